import { execFileSync } from 'node:child_process'
import { chown, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { trustedTest } from '../support/facilitator.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { readText } from '../support/readText.js'
import { startTestRedis, type TestRedis } from '../support/redis.js'
import { registerAccount } from '../support/registerAccount.js'
import { overTcp } from '../support/tcpProxy.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { makeInstallation, type Started, startProcess } from './support.js'

/*
 * What the image runs, without a container engine: its entrypoint and health check as the Dockerfile has them, with the
 * environment of the compose file, as uid 1000 without capabilities and on a root file system that is read-only.
 */

const uid = 1_000
const words = z.array(z.string())
const readiness = z.object({ checks: z.object({ database: z.string(), store: z.string() }) })

const dockerfile = readText('Dockerfile')
const readInstruction = (pattern: RegExp): readonly string[] =>
  words.parse(JSON.parse(pattern.exec(dockerfile)?.[1] ?? 'null'))
const entrypoint = readInstruction(/^ENTRYPOINT (.*)$/m)
const command = readInstruction(/^CMD (.*)$/m)
const healthCheck = readInstruction(/^HEALTHCHECK .* CMD (.*)$/m)

const { environment: composed } = z
  .object({ services: z.object({ quittance: z.object({ environment: z.record(z.string(), z.string()) }) }) })
  .parse(parseYaml(readText('docker-compose.yml'), { merge: true })).services.quittance

const canIsolate = (() => {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-o', 'remount,bind,ro', '/'])
    return true
  } catch {
    process.stderr.write('\n*** image suite SKIPPED: mounts need root ***\n\n')
    return false
  }
})()

describe.skipIf(!canIsolate)('the image', () => {
  let database: TestDatabase
  let redis: TestRedis | null
  let folder: string
  let data: string
  let environment: Record<string, string>
  let service: Started
  let port: string

  /** The command as the container would run it: of `docker run`, or of `docker exec`, which have one environment. */
  const runInImage = (given: readonly string[], more: Readonly<Record<string, string>> = {}): Started => {
    const isolated = 'mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"'
    const drop = [
      'setpriv',
      '--pdeathsig',
      'KILL',
      '--reuid',
      `${uid}`,
      '--regid',
      `${uid}`,
      '--clear-groups',
    ]
    const limits = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs']
    return startProcess(['unshare', '--mount', 'sh', '-c', isolated, data, ...drop, ...limits, ...given], {
      cwd: folder,
      environment: { ...environment, ...more },
    })
  }
  const exec = (...given: readonly string[]) => runInImage(given).ended

  beforeAll(async () => {
    database = await createTestDatabase()
    redis = await startTestRedis()
    folder = await makeInstallation(await makeTemporaryFolder('quittance-image-', { onDisk: true }))
    data = await makeTemporaryFolder('quittance-data-', { onDisk: true })
    await chown(data, uid, uid)
    await mkdir(join(folder, 'bin'))
    await symlink(join(folder, 'dist', 'main.js'), join(folder, 'bin', 'quittance'))

    // The server's folder, with its socket, is closed to the user of the image.
    const url = new URL(overTcp(database.url))
    const password = decodeURIComponent(url.password)
    url.password = ''
    await writeFile(join(folder, 'postgres-password'), `${password === '' ? 'unused' : password}\n`)
    await writeFile(join(folder, 'redis-password'), 'of-redis\n')
    if (redis?.isOwn === true) {
      const client = new Redis(redis.url)
      await client.config('SET', 'requirepass', 'of-redis')
      client.disconnect()
    }
    const values: Readonly<Record<string, string>> = {
      HOST: '127.0.0.1',
      PORT: '0',
      ...trustedTest,
      DATA_FOLDER: data,
      DATABASE_URL: url.href,
      DATABASE_PASSWORD_FILE: join(folder, 'postgres-password'),
      REDIS_URL: redis?.isOwn === true ? redis.url : '',
      REDIS_PASSWORD_FILE: redis?.isOwn === true ? join(folder, 'redis-password') : '',
    }
    // As Compose does with an empty .env.
    const passed = Object.keys(composed).map((name) => [name, values[name] ?? ''])
    environment = {
      ...Object.fromEntries(passed),
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: '/nonexistent',
      NODE_ENV: 'production',
    }
    // Leaves what V8 compiled, which the user of the image cannot.
    expect(await startProcess([join(folder, 'bin', 'quittance'), '--version'], {}).ended).toMatchObject({
      code: 0,
    })
    service = runInImage([...entrypoint, ...command])
    port = (await service.waitFor(/"port":(\d+),"msg":"service\.listening"/))[1] ?? ''
  })
  afterAll(async () => {
    service.child.kill('SIGTERM')
    await service.ended
    await redis?.stop()
    await database.drop()
    await Promise.all([folder, data].map((each) => rm(each, { recursive: true, force: true })))
  })

  it('starts the service by default, with its stores', async () => {
    expect(entrypoint).toEqual(['quittance'])
    expect(command).toEqual(['start'])
    const readChecks = async () => {
      const { checks } = readiness.parse(await (await fetch(`http://127.0.0.1:${port}/ready`)).json())
      return checks
    }
    // A command that a busy machine delays shows Redis as degraded for a while.
    await pollUntil(
      async () => isDeepStrictEqual(await readChecks(), { database: 'ok', store: 'ok' }),
      'the stores to be ready',
      readChecks,
    )
    expect(service.text()).not.toContain('it refuses this user or password')
  })

  it('is healthy by its own check, in the environment of `exec`', async () => {
    expect(await runInImage(healthCheck, { PORT: port }).ended).toMatchObject({ code: 0, errors: '' })
    expect(await runInImage(healthCheck, { PORT: '1' }).ended).toMatchObject({ code: 1 })
  })

  it.each([
    ['`run`, by the entrypoint', (...given: readonly string[]) => exec(...entrypoint, ...given)],
    ['`exec`, by name', (...given: readonly string[]) => exec('quittance', ...given)],
    [
      'npm',
      (...given: readonly string[]) => exec('npm', 'run', '--silent', 'admin', '--', ...given.slice(1)),
    ],
    ['Node.js', (...given: readonly string[]) => exec('node', 'dist/main.js', ...given)],
  ])('manages the accounts of the service with %s', async (way, run) => {
    const email = `${way.replaceAll(/\W/g, '')}@example.com`
    await registerAccount(`http://127.0.0.1:${port}`, { email, projectName: 'shop' })
    const { code, output, errors } = await run('admin', 'keys', 'list', '--json')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const accounts = z.array(z.looseObject({ email: z.string() })).parse(JSON.parse(output))
    expect(accounts.map((account) => account.email)).toContain(email)
  })

  it('checks the stores of the service', async () => {
    const checks = await Promise.all([exec(...entrypoint, 'check'), exec('quittance', 'admin', 'check')])
    for (const { code, output } of checks) {
      expect(output).toMatch(/^ok +database +Postgres \d\d$/m)
      expect(output).toMatch(redis?.isOwn === true ? /^ok +redis +takes writes$/m : /redis/)
      expect({ code, isClean: output.includes(' 0 errors') }).toEqual({ code: 0, isClean: true })
    }
  })

  it.each([
    [['--version'], /^quittance \d+\.\d+\.\d+\n$/],
    [['--help'], /^Usage: quittance start .*\n {7}quittance admin <command> /],
    [['start', '--help'], /^Usage: quittance start /],
    [['admin', '--help'], /^Usage: quittance admin <command>\n/],
    [['check', '--help'], /^Usage: quittance admin <command>\n/],
    [['deploy', '--help'], /^Usage: quittance deploy --network <id>/],
    [['listen', '--help'], /^Usage: quittance listen --key <API key>/],
  ])('answers %j, and names the command as it was called', async (given, pattern) => {
    const { code, output, errors } = await exec(...entrypoint, ...given)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toMatch(pattern)
  })

  it('refuses what it does not know with code 2, and names the help as it is called', async () => {
    const [unknown, misspelt] = await Promise.all([
      exec(...entrypoint, 'serve'),
      exec(...entrypoint, 'admin', 'keys', 'lst'),
    ])
    expect(unknown).toMatchObject({ code: 2, errors: expect.stringContaining('\nquittance --help shows') })
    expect(misspelt).toMatchObject({ code: 2, errors: expect.stringContaining('Usage: quittance admin <') })
  })

  it('follows events with `listen`, and says what it lacks', async () => {
    const { code, errors } = await exec(...entrypoint, 'listen')
    expect(code).toBe(1)
    expect(errors).toMatch(/^--key is required\.\n\nUsage: quittance listen /)
    const refused = await exec('quittance', 'listen', '--key', 'x', '--url', `http://127.0.0.1:${port}`)
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('The service answered 401') })
  })
})
