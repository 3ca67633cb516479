import { describe, expect, it } from 'vitest'
import type { SettingsReading } from '../../src/chains/chain.js'
import { settingsOf } from '../support/readSettings.js'

type Environment = Readonly<Record<string, string>>

interface DirectSettingsCases {
  /** Sentence, variables, what the networks contain. */
  readonly read: readonly (readonly [string, Environment, readonly object[]])[]
  /** One malformed variable; no problem repeats `hunter2`. */
  readonly malformed: readonly (readonly [name: string, value: string])[]
  /** Variables, and the one problem. */
  readonly refused: readonly (readonly [Environment, string])[]
}

/** What is a family's own in the settings that all families share on which the service only reads. */
export const describeDirectSettings = (
  name: string,
  readSettings: (environment: Environment) => SettingsReading<{ readonly networks: readonly object[] }>,
  { read: readable, malformed, refused }: DirectSettingsCases,
): void => {
  const { read, problemsOf } = settingsOf(readSettings)

  describe(`the settings of ${name}`, () => {
    it.each(readable)('%s', (_, environment, networks) => {
      expect(read(environment)?.networks).toMatchObject(networks)
    })

    it.each(malformed)('name %s when it is %s, and not its value', (variable, value) => {
      const problems = problemsOf({ [variable]: value })
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${variable}: must `))])
      expect(problems.join()).not.toMatch(/hunter2/i)
    })

    it.each(refused)('refuse %j', (environment, problem) => {
      expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)])
    })
  })
}
