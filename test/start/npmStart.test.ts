import { cp, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestDatabase } from '../support/postgres.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { type Ended, makeInstallation, makeSmallProject, startProcess } from './support.js'

let folder: string
beforeEach(async () => {
  folder = await makeTemporaryFolder('quittance-start-', { onDisk: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The scripts of each build, the newest first. */
const listedBuilds = z.array(z.array(z.string()))

const npm = (...words: readonly string[]) => startProcess(['npm', ...words], { cwd: folder }).ended

describe('npm start', () => {
  it('ends the server cleanly on SIGTERM to npm, with a last line', async () => {
    await makeInstallation(folder)
    const database = await createTestDatabase()
    try {
      const environment = {
        DATABASE_URL: database.url,
        SANDBOX: 'false',
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_FOLDER: folder,
      }
      const server = startProcess(['npm', 'start'], { cwd: folder, environment })
      const [, port] = await server.waitFor(/"port":(\d+),"msg":"service\.listening"/)
      const url = `http://127.0.0.1:${port}/health`
      expect((await fetch(url)).status).toBe(200)
      server.child.kill('SIGTERM')
      const { code, output } = await server.ended
      expect(code).toBe(0)
      const last = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
      expect(last).toMatchObject({ level: 'info', msg: 'service.stopped', ranSeconds: expect.any(Number) })
      await expect(fetch(url)).rejects.toThrow()
    } finally {
      await database.drop()
    }
  })

  it('answers --help and --version, and refuses an unknown option with a sentence and code 2', async () => {
    await makeInstallation(folder)
    const [help, version, unknown, adminHelp, adminUnknown] = await Promise.all([
      npm('start', '--', '--help'),
      npm('start', '--', '--version'),
      npm('start', '--', '--port=1'),
      npm('run', 'admin', '--', '--help'),
      npm('run', 'admin', '--', 'keys', 'list', '--csv'),
    ])
    expect(help).toMatchObject({ code: 0, output: expect.stringContaining('Usage: npm start') })
    expect(version).toMatchObject({ code: 0, output: expect.stringMatching(/quittance \d+\.\d+\.\d+\n$/) })
    expect(unknown).toMatchObject({ code: 2, errors: expect.stringContaining("Unknown option '--port'.") })
    expect(adminHelp).toMatchObject({ code: 0, output: expect.stringContaining('keys revoke <account>') })
    expect(adminUnknown).toMatchObject({
      code: 2,
      errors: expect.stringContaining("Unknown option '--csv'."),
    })
  })
})

describe('the build before a start', () => {
  const run = (cwd = folder) => startProcess([process.execPath, 'scripts/start.mjs'], { cwd }).ended
  const building = 'Building, because the sources changed'
  const main = () => join(folder, 'src', 'main.ts')

  let started: { readonly folder: string; readonly first: Ended }
  beforeAll(async () => {
    const project = await makeTemporaryFolder('quittance-start-', { onDisk: true })
    await makeSmallProject(project)
    started = { folder: project, first: await run(project) }
  })
  afterAll(() => rm(started.folder, { recursive: true, force: true }))

  /** A copy of a project that was started once. Returns what its first start wrote. */
  const copyStarted = async (): Promise<Ended> => {
    await cp(started.folder, folder, { recursive: true, verbatimSymlinks: true })
    return started.first
  }

  it('is made when the sources changed, and only then', async () => {
    expect(await copyStarted()).toMatchObject({
      code: 0,
      output: 'first\n',
      errors: expect.stringMatching(
        /^The first start compiles the service once, which takes about a minute …\n/,
      ),
    })
    expect(await run()).toMatchObject({ code: 0, output: 'first\n', errors: '' })
    // A checkout or a copy changes times, not contents.
    await utimes(main(), new Date(), new Date())
    expect(await run()).toMatchObject({ code: 0, output: 'first\n', errors: '' })
    await writeFile(main(), "process.stdout.write('second\\n')\n")
    await utimes(main(), new Date(0), new Date(0))
    expect(await run()).toMatchObject({ output: 'second\n', errors: expect.stringContaining(building) })
  })

  it('leaves the old one in place when the sources do not compile, and nothing is started', async () => {
    await copyStarted()
    await writeFile(main(), 'const amount: number = "one"\nprocess.exit(amount)\n')
    const failed = await run()
    expect(failed).toMatchObject({ code: 1, output: '' })
    expect(failed.errors).toMatch(/src\/main\.ts.*TS2322[\s\S]*The sources do not compile/)
    await writeFile(main(), "process.stdout.write('first\\n')\n")
    expect(await run()).toMatchObject({ code: 0, output: 'first\n', errors: '' })
  })

  const dist = (...names: readonly string[]) => join(folder, 'dist', ...names)

  const listLateScripts = async (): Promise<readonly string[]> =>
    (await readdir(dist('program'))).filter((name) => /^late-\w+\.js$/.test(name)).sort()

  /** Starts a service that imports a script later; returns the names that builds have given this script. */
  const startWith = async (word: string): Promise<readonly string[]> => {
    await writeFile(main(), "void import('./late.js')\n")
    await writeFile(join(folder, 'src', 'late.ts'), `process.stdout.write('${word}\\n')\n`)
    expect(await run()).toMatchObject({ code: 0, output: `${word}\n` })
    return await listLateScripts()
  }

  /** Leaves what builds of other sources would, each as the newest: a compiler for each takes a busy machine minutes. */
  const addBuilds = async (...late: readonly string[]): Promise<void> => {
    for (const name of late) {
      const builds = listedBuilds.parse(JSON.parse(await readFile(dist('.scripts.json'), 'utf8')))
      await writeFile(dist('program', name), '')
      await writeFile(dist('.scripts.json'), JSON.stringify([[`program/${name}`], ...builds]))
    }
  }

  it('keeps the scripts of the three builds before, which a running service may import later', async () => {
    await copyStarted()
    const [first, ...others] = await startWith('one')
    expect(others).toEqual([])
    await addBuilds('late-2.js', 'late-3.js')
    const four = await startWith('four')
    expect(four).toHaveLength(4)
    expect(four).toEqual(expect.arrayContaining([first, 'late-2.js', 'late-3.js']))
    const five = await startWith('five')
    expect(five).toHaveLength(4)
    expect(five).not.toContain(first)
  })

  it('keeps them when the same sources are built again, twice at the same time', async () => {
    await copyStarted()
    await addBuilds('late-1.js', 'late-2.js', 'late-3.js')
    const four = await startWith('four')
    expect(four).toHaveLength(4)
    // As `npm run build` does it.
    const build = "await (await import('./scripts/build.mjs')).build()"
    const rebuild = () =>
      startProcess([process.execPath, '--input-type=module', '-e', build], { cwd: folder }).ended
    expect((await Promise.all([rebuild(), rebuild()])).map(({ code }) => code)).toEqual([0, 0])
    expect(await listLateScripts()).toEqual(four)
  })

  it.each([
    ['of an earlier release, which lists no scripts', async () => rm(dist('.scripts.json'))],
    ['that is damaged', async () => writeFile(dist('.scripts.json'), '[["program/ma')],
  ])('keeps the scripts of one %s', async (_, change) => {
    await copyStarted()
    await change()
    await mkdir(dist('chains'))
    await writeFile(dist('chains', 'late.js'), '')
    await writeFile(main(), "process.stdout.write('second\\n')\n")
    expect(await run()).toMatchObject({ code: 0, output: 'second\n' })
    expect(await readdir(dist('chains'))).toEqual(['late.js'])
  })

  it('names the sources in stack traces where maps are enabled', async () => {
    await copyStarted()
    await writeFile(main(), "const text: string = 'none'\n\nthrow new RangeError(text)\n")
    const command = [process.execPath, '--enable-source-maps', 'scripts/start.mjs']
    const { code, errors } = await startProcess(command, { cwd: folder }).ended
    expect(code).toBe(1)
    expect(errors).toMatch(/RangeError: none\n +at .*src\/main\.ts:3:7/)
  })

  it('needs no sources and no compiler where there is a build, as in the image', async () => {
    await copyStarted()
    await rm(join(folder, 'src'), { recursive: true })
    await rm(join(folder, 'node_modules'))
    expect(await run()).toMatchObject({ code: 0, output: 'first\n', errors: '' })
  })

  it('says what to install where there is no compiler', async () => {
    await makeSmallProject(folder)
    await rm(join(folder, 'node_modules'))
    const { code, errors } = await run()
    expect(code).toBe(1)
    expect(errors).toContain('TypeScript is not installed: run npm ci')
  })
})
