import type { SettingsReading } from '../../src/chains/chain.js'

type Environment = Readonly<Record<string, string>>

/** The settings that a family reads, which throw for problems, and the problems. */
export const settingsOf = <Settings>(
  readSettings: (environment: Environment) => SettingsReading<Settings>,
) => ({
  read: (environment: Environment): Settings | null => {
    const reading = readSettings(environment)
    if ('problems' in reading) throw new Error(reading.problems.join('; '))
    return reading.settings
  },
  problemsOf: (environment: Environment): readonly string[] => {
    const reading = readSettings(environment)
    return 'problems' in reading ? reading.problems : []
  },
})
