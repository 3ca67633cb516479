import { readFileSync, statSync } from 'node:fs'
import { cp, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findProgram } from '../support/program.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { startProcess } from './support.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

/** Programs of others, with their own help. */
const tools = /^(?:node scripts\/buildWeb\.mjs && )?(?:vitest|biome|tsc|tsx watch)\b|^LONG_RUN=/
const ours = Object.entries(scripts).flatMap(([name, command]) => (tools.test(command) ? [] : [name]))

/**
 * As npm runs it, whose own start takes as long as most of them. Scripts in `test` run as the run compiled them: tsx compiles
 * them, and what they import, once more.
 */
const helpOf = (command: string): readonly string[] => {
  const [, script] = /^tsx (test\/\S+\.ts)$/.exec(command) ?? []
  if (script === undefined) return ['sh', '-c', `${command} --help`]
  const { flags, file } = findProgram(new URL(script, `file://${root}`))
  return [process.execPath, ...flags, file, '--help']
}

const copyProject = async (): Promise<string> => {
  const folder = await makeTemporaryFolder('quittance-help-', { onDisk: true })
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts']) {
    await cp(join(root, name), join(folder, name), { recursive: true })
  }
  for (const name of ['node_modules', 'src']) await symlink(join(root, name), join(folder, name))
  return folder
}

const timeOfBuild = (folder: string): number | null =>
  statSync(join(folder, 'dist'), { throwIfNoEntry: false })?.mtimeMs ?? null

describe('the scripts', () => {
  /** Without a build: tsx compiles the service once more for its help. */
  let unbuilt: string
  /** With a build of other sources. */
  let outdated: string

  beforeAll(async () => {
    const [first, second] = await Promise.all([copyProject(), copyProject()])
    unbuilt = first
    outdated = second
    await symlink(dirname(findProgram(new URL('src/main.ts', `file://${root}`)).file), join(outdated, 'dist'))
  })
  afterAll(() => Promise.all([unbuilt, outdated].map((folder) => rm(folder, { recursive: true }))))

  /** Some scripts know their folder; the others run from here. */
  const folderOf = (name: string): string => {
    if (scripts[name]?.includes('scripts/') !== true) return root
    return name === 'start' || name === 'build' ? unbuilt : outdated
  }

  it('are these', () => {
    expect(ours).toEqual(
      expect.arrayContaining(['start', 'admin', 'listen', 'deploy', 'demo', 'buy', 'bench']),
    )
  })

  it.each(ours)('explain npm run %s with --help, and build nothing for it', async (name) => {
    const cwd = folderOf(name)
    const before = timeOfBuild(cwd)
    const { code, output } = await startProcess(helpOf(scripts[name] ?? ''), {
      cwd,
      environment: { PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
    }).ended
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(new RegExp(`^Usage: npm (?:run )?${name}\\b`)),
    })
    expect(timeOfBuild(cwd)).toBe(before)
  })
})
