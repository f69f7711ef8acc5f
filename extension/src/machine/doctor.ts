import { readSettings } from "../base/settings";
import type { Client } from "../helper/client";
import type { DoctorResult } from "../protocol/protocol";

/** Asks the helper what can be measured on this machine, with the perf of the settings. */
export function askDoctor(client: Client): Promise<DoctorResult> {
  const { perfPath } = readSettings();
  return client.request("ptlens/doctor", perfPath === "" ? {} : { perf: perfPath });
}
