import { readSettings } from "../base/settings";
import type { Client } from "../helper/client";
import type { DoctorResult } from "../protocol/protocol";

/** Checks with the helper which measurements this machine supports, with the perf of the settings. */
export function askDoctor(client: Client): Promise<DoctorResult> {
  const { perfPath } = readSettings();
  return client.request("ptlens/doctor", perfPath === "" ? {} : { perf: perfPath });
}
