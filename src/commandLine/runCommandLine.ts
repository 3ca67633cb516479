import { createTerminal, runAdmin, type Streams } from '../admin/runAdmin.js'
import { NoDataError } from '../stores/postgres/openAdminDatabase.js'
import { createInstallation, type GivenVariables } from './createInstallation.js'

type ExitCode = 0 | 1 | 2

/** Throws an operator-facing error if the command fails. 2: there is no data to work on, and nothing was created. */
export const runCommandLine = async (
  args: readonly string[],
  given: GivenVariables,
  streams: Streams,
): Promise<ExitCode> => {
  try {
    return await runAdmin(args, createTerminal(streams), createInstallation(given))
  } catch (error) {
    if (!(error instanceof NoDataError)) throw error
    streams.prompts.write(`${error.message}\n`)
    return 2
  }
}
