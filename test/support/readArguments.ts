import { type ParseArgsConfig, parseArgs } from 'node:util'
import { showHelp } from './showHelp.js'

type Options = NonNullable<ParseArgsConfig['options']>

interface Described<T extends Options> {
  readonly usage: string
  readonly options: T
  /** Whether it takes words beside its options. Default: false. */
  readonly allowPositionals?: boolean
}

/** Of a script for developers: `--help` prints the usage and ends the process; what is unknown throws. */
export const readArguments = <T extends Options>({
  usage,
  options,
  allowPositionals = false,
}: Described<T>) => {
  showHelp(usage)
  return parseArgs({ allowPositionals, options })
}
