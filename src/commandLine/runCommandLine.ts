import { createTerminal, runAdmin, type Streams } from '../admin/runAdmin.js'
import { NoDataError } from '../stores/postgres/openAdminDatabase.js'
import { AmbiguousDataError, createInstallation, type GivenVariables } from './createInstallation.js'

type ExitCode = 0 | 1 | 2

/** Throws an operator-facing error if the command fails. 2: there are no data to work on, or those of two purposes, and nothing was done. */
export const runCommandLine = async (
  args: readonly string[],
  given: GivenVariables,
  streams: Streams,
): Promise<ExitCode> => {
  try {
    return await runAdmin(args, createTerminal(streams), createInstallation(given))
  } catch (error) {
    if (!(error instanceof NoDataError || error instanceof AmbiguousDataError)) throw error
    streams.prompts.write(`${error.message}\n`)
    return 2
  }
}
