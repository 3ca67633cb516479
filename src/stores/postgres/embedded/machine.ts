import { type Binaries, listBinaries } from './listBinaries.js'
import { pickPort } from './pickPort.js'

/** Everything that the launcher takes from the machine; a test replaces single fields. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** The user of this process, or null where there are no numeric users (Windows). */
  readonly userId: number | null
  /** The sets of programs to try, best first. */
  readonly binaries: readonly Binaries[]
  /** Programs of util-linux, by name or path. Each may be absent. */
  readonly tools: { readonly unshare: string; readonly setpriv: string; readonly flock: string }
  readonly startDeadlineMs: number
  /** How long a fast shutdown may take before an immediate one is asked for. */
  readonly stopDeadlineMs: number
  readonly pickPort: () => Promise<number>
}

/** Describes the machine that this process runs on. */
export function thisMachine(): Machine {
  return {
    platform: process.platform,
    userId: process.getuid?.() ?? null,
    binaries: listBinaries(),
    tools: { unshare: 'unshare', setpriv: 'setpriv', flock: 'flock' },
    startDeadlineMs: 60_000,
    stopDeadlineMs: 20_000,
    pickPort,
  }
}
