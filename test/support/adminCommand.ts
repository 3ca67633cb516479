import { PassThrough } from 'node:stream'
import { runCommandLine } from '../../src/cli/admin/createInstallation.js'

/** Runs `admin` in this process, without a terminal. `output` also has what goes to standard error. */
export const runAdminCommand = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> => {
  const written = new PassThrough()
  const streams = { input: new PassThrough(), output: written, prompts: written }
  const read = () => String(written.read() ?? '')
  try {
    const code = await runCommandLine(words, { environment }, streams)
    return { code, output: read() }
  } catch (error) {
    return { code: 1, output: `${read()}${error instanceof Error ? error.message : 'unknown'}` }
  }
}
