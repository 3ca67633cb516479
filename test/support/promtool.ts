import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { unpackDebianPackages } from './debianPackages.js'

const advice = 'install promtool (apt-get install prometheus)'

const runs = (path: string): boolean => spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0

const findProgram = async (): Promise<string | null> => {
  if (runs('promtool')) return 'promtool'
  const pathIn = ({ folder }: { readonly folder: string }) => join(folder, 'usr/bin/promtool')
  const unpacked = await unpackDebianPackages({
    name: 'prometheus',
    packages: ['prometheus'],
    isUsable: async (copy) => runs(pathIn(copy)),
  })
  return unpacked === null ? null : pathIn(unpacked)
}

/** Null with a message on stderr where there is no promtool; an error with `REQUIRE_PROMTOOL=1`. */
export const findPromtool = async (): Promise<string | null> => {
  const program = await findProgram()
  if (program !== null) return program
  if (process.env.REQUIRE_PROMTOOL === '1') {
    throw new Error(`REQUIRE_PROMTOOL=1, but there is no promtool: ${advice}`)
  }
  process.stderr.write(`\n*** Suites of alerts and dashboards SKIPPED: no promtool here; ${advice} ***\n\n`)
  return null
}
