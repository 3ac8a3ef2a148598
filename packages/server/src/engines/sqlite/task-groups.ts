import type { GroupCount } from "../../ports/task-store.js";
import { noTasks } from "../task-states.js";
import type { Row } from "./driver.js";
import { storedStates } from "./stored-states.js";

type GroupRow = { groupId: string; principal: string; state: number; count: number };

/** Puts together what was counted by group, principal and state, in that order. */
export function groupsOf(rows: readonly Row[]): GroupCount[] {
  const groups: GroupCount[] = [];
  for (const row of rows) {
    const { groupId, principal, state, count } = row as unknown as GroupRow;
    let group = groups[groups.length - 1];
    if (group?.groupId !== groupId || group.principal !== principal) {
      group = { groupId, principal, byState: noTasks() };
      groups.push(group);
    }
    group.byState[storedStates[state]!] = count;
  }
  return groups;
}
