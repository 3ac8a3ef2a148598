import { Synonyms } from "./catalog/synonyms.js";
import { readSynonyms, SYNONYMS_BYTES_MAX } from "./config/synonyms.js";
import { type Content, FollowedFile, readSmallFile } from "./engines/os/followed-file.js";
import type { System } from "./ports/system.js";
import type { Log } from "./telemetry/log.js";

/** The synonyms of a file. Throws what is wrong with it, with the line. */
export function openSynonyms(path: string): Synonyms {
  return synonymsOf(path, readSmallFile(path, SYNONYMS_BYTES_MAX));
}

/**
 * Gives the catalog the synonyms of the file, and those of each later state of it. A node does not start on a broken file; one
 * that breaks later is told of in the log, and the synonyms of before stay in use.
 */
export function followSynonyms(path: string, catalog: { synonyms: Synonyms }, system: System, log: Log): FollowedFile {
  const file = new FollowedFile(path, SYNONYMS_BYTES_MAX, system);
  catalog.synonyms = synonymsOf(path, file.content);
  file.follow((content) => {
    try {
      catalog.synonyms = synonymsOf(path, content);
      log.info({ file: path, phrases: catalog.synonyms.size }, "synonyms read anew");
    } catch (error) {
      log.warn(`${(error as Error).message} The synonyms that were read before stay in use.`);
    }
  });
  return file;
}

function synonymsOf(path: string, content: Content): Synonyms {
  return new Synonyms(readSynonyms(path, content));
}
