import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Machine, pickPort, thisMachine } from '../../../../src/stores/postgres/embedded/machine.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { overTcp } from '../../../support/tcpProxy.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'
import {
  ask,
  cleanUp,
  copyPackageWithoutLinks,
  isAlive,
  isLinux,
  isRootOnLinux,
  newFolder,
  nobody,
  removeSeed,
  serverPid,
  start,
  startBystander,
  startOwner,
  temporaryFolder,
  usedFolder,
} from './support.js'

const isWindows = process.platform === 'win32'
const noTool = '/nowhere/this-program-does-not-exist'
const machine = thisMachine()
const withTools = (tools: Partial<Machine['tools']>): Machine => ({
  ...machine,
  tools: { ...machine.tools, ...tools },
})
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
/** Without the socket. */
const listFolder = async (folder: string) =>
  (await readdir(folder)).filter((name) => !name.startsWith('.s.PGSQL.'))
const remember = (url: string) => ask(url, 'create table kept as select 42 as answer')
const recall = (url: string) => ask(url, 'select answer from kept')

afterEach(cleanUp)
afterAll(removeSeed)

describe('a first start', () => {
  describe('whose cluster is only read', () => {
    let folder: string
    let postgres: EmbeddedPostgres

    beforeAll(async () => {
      folder = join(await makeTemporaryFolder('quittance-embedded-'), 'data')
      postgres = await startEmbeddedPostgres({ folder, log: () => undefined })
    })
    afterAll(async () => {
      await postgres.stop()
      await rm(dirname(folder), { recursive: true, force: true })
    })

    test('creates a durable UTF8 database with checksums, locale C and UTC', async () => {
      const { url } = postgres
      const show = (name: string) => ask(url, `show ${name}`)

      expect(await show('server_encoding')).toBe('UTF8')
      expect(await ask(url, 'select datcollate from pg_database where datname = current_database()')).toBe(
        'C',
      )
      expect(await show('timezone')).toBe('UTC')
      expect(await show('fsync')).toBe('on')
      expect(await show('synchronous_commit')).toBe('on')
      expect(await show('data_checksums')).toBe('on')
      expect(await ask(url, 'select current_database()')).toBe('quittance')
    })

    test('logs full pages seldom and compressed, and recovers from as much log as by default', async () => {
      const show = (name: string) => ask(postgres.url, `show ${name}`)

      expect(await show('full_page_writes')).toBe('on')
      expect(await show('wal_compression')).not.toBe('off')
      expect(await show('checkpoint_timeout')).toBe('15min')
      expect(await show('max_wal_size')).toBe('1GB')
    })

    test('is reachable on 127.0.0.1 and a socket in its folder only, with the password only', async () => {
      const { url } = postgres

      expect(await ask(url, 'show listen_addresses')).toBe('127.0.0.1')
      for (const reachable of [url, overTcp(url)]) {
        const stranger = new URL(reachable)
        stranger.password = 'guess'
        await expect(ask(stranger.href, 'select 1')).rejects.toThrow('password authentication failed')
      }
    })

    test.skipIf(isWindows)('is used over the socket', async () => {
      const { url } = postgres

      expect(await ask(url, 'select inet_client_addr()')).toBeNull()
      expect(await ask(overTcp(url), 'select host(inet_client_addr())')).toBe('127.0.0.1')
    })

    test('restricts the data folder and the password file to the owner', async () => {
      expect(await modeOf(folder)).toBe('700')
      expect(await modeOf(join(folder, 'cluster'))).toBe('700')
      expect(await modeOf(join(folder, 'password'))).toBe('600')
    })
  })

  test('replaces an incomplete cluster of a crashed first start', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'cluster.new-1f', 'base'), { recursive: true })
    await writeFile(join(folder, 'cluster.new-1f', 'PG_VERSION'), '18\n')
    await writeFile(join(folder, 'password.new'), 'half a pass')

    const { url } = await start(folder)

    expect(await ask(url, 'select 1')).toBe(1)
    expect(await listFolder(folder)).toEqual(['cluster', 'lock', 'password'])
  })

  test('reports the output of initdb if the cluster cannot be created', async () => {
    const folder = await newFolder()
    const options = { folder, initdbArgs: ['--no-such-option'], log: () => undefined }

    await expect(startEmbeddedPostgres(options)).rejects.toThrow(
      /could not create its data folder.*no-such-option/s,
    )
    expect(await ask((await start(folder)).url, 'select 1')).toBe(1)
  })
})

describe('a start', () => {
  test('uses another port if the first one is taken meanwhile', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const address = squatter.address()
    const taken = typeof address === 'object' ? (address?.port ?? 0) : 0
    const ports = [taken, await pickPort()]

    const { url } = await start(await usedFolder(), {
      ...machine,
      // Another process may take the second one as well.
      pickPort: async () => ports.shift() ?? (await pickPort()),
    })

    squatter.close()
    expect(ports).toEqual([])
    expect(await ask(url, 'select 1')).toBe(1)
  })
})

describe.skipIf(isWindows)('the socket', () => {
  test('is given up for TCP in a folder whose path is too long for one', async () => {
    const folder = join(await newFolder(), 'x'.repeat(100))

    const { url } = await start(folder)

    expect(await ask(url, 'select host(inet_client_addr())')).toBe('127.0.0.1')
  })

  test('works in a folder whose path has spaces and the separators of a list', async () => {
    const { url } = await start(join(await newFolder(), `a, "b" and 'c'+%20`))

    expect(await ask(url, 'select inet_client_addr()')).toBeNull()
  })

  test('of a killed server is removed by the next start', async () => {
    const folder = await usedFolder()
    const stale = ['.s.PGSQL.1', '.s.PGSQL.1.lock']
    for (const name of stale) await writeFile(join(folder, name), '')

    await start(folder)

    const left = await readdir(folder)
    expect(left.filter((name) => stale.includes(name))).toEqual([])
  })
})

describe('a later start', () => {
  test('finds the data and keeps the password', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await remember(first.url)
    await first.stop()

    const second = await start(folder)

    expect(await recall(second.url)).toBe(42)
    expect(new URL(second.url).password).toBe(new URL(first.url).password)
  })

  test('rejects data of another major version and names it', async () => {
    const folder = await usedFolder()
    await writeFile(join(folder, 'cluster', 'PG_VERSION'), '12\n')

    await expect(start(folder)).rejects.toThrow(
      /created by Postgres 12, but this is Postgres \d+ .*DATABASE_URL/,
    )
  })

  test('reports a missing password of existing data', async () => {
    const folder = await usedFolder()
    await rm(join(folder, 'password'))

    await expect(start(folder)).rejects.toThrow(/password is missing/)
  })

  test('reports a rejected password', async () => {
    const folder = await usedFolder()
    await writeFile(join(folder, 'password'), 'another\n')

    await expect(start(folder)).rejects.toThrow(/rejects the password in .*password/)
    expect(await readdir(join(folder, 'cluster'))).not.toContain('postmaster.pid')
  })

  test('reports the end of the server log if the server exits', async () => {
    const folder = await usedFolder()
    await writeFile(join(folder, 'cluster', 'postgresql.conf'), 'no_such_setting = 1\n')

    await expect(start(folder)).rejects.toThrow(/no_such_setting/)
  })

  test.runIf(isLinux)('fails at the deadline with the end of the server log', async () => {
    const folder = await usedFolder()
    const bin = await temporaryFolder({ onDisk: true })
    const version = (await readFile(join(folder, 'cluster', 'PG_VERSION'), 'utf8')).trim()
    const script = `#!/bin/sh
      if [ "$1" = --version ]; then echo "postgres (PostgreSQL) ${version}.0"; exit; fi
      echo 'busy with something else' >&2; exec sleep 600`
    await writeFile(join(bin, 'postgres'), script)
    await chmod(join(bin, 'postgres'), 0o755)

    let passedMs = 0
    const slow = {
      ...machine,
      binaries: [{ origin: bin, bin, packageFolder: null }],
      now: () => Date.now() + passedMs,
    }
    const starting = start(folder, slow, () => {
      passedMs = machine.startDeadlineMs
    })

    await expect(starting).rejects.toThrow(/not ready in time.*\n.*busy with something else/)
    expect(await ask((await start(folder)).url, 'select 1')).toBe(1)
  })
})

describe('a data folder', () => {
  test('is used by one process at a time; the second one fails with its pid', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder)
    await remember(owner.url)

    await expect(start(folder)).rejects.toThrow(
      `The data folder ${folder} is in use by another process (pid ${owner.process.pid})`,
    )
    expect(await recall(owner.url)).toBe(42)
  })

  test('is free again after a stop', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await expect(start(folder)).rejects.toThrow('is in use')

    await first.stop()
    await first.stop()

    expect(await ask((await start(folder)).url, 'select 1')).toBe(1)
  })

  test('is free if the lock file names a live process without the lock', async () => {
    const folder = await usedFolder()
    await writeFile(join(folder, 'lock'), `${startBystander()}\n`)

    expect(await ask((await start(folder)).url, 'select 1')).toBe(1)
  })

  test.runIf(isLinux)('without flock is still protected by a running server', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder)
    await remember(owner.url)

    await expect(start(folder, withTools({ flock: noTool }))).rejects.toThrow(
      `Postgres (pid ${await serverPid(folder)}) is running on ${folder}`,
    )
    expect(await recall(owner.url)).toBe(42)
    await owner.kill()
    await pollUntil(
      async () => !(await readdir(join(folder, 'cluster'))).includes('postmaster.pid'),
      'the server to end',
    )
    expect(await recall((await start(folder, withTools({ flock: noTool }))).url)).toBe(42)
  })

  test('with foreign files is rejected and keeps its mode', async () => {
    const folder = await newFolder()
    await mkdir(folder, { mode: 0o755 })
    await writeFile(join(folder, 'letters.txt'), 'private')

    await expect(start(folder)).rejects.toThrow(/contains "letters.txt"/)
    expect(await modeOf(folder)).toBe('755')
  })
})

describe.runIf(isLinux)('after a kill -9', () => {
  test('of the owner, the server ends too, and the next start finds committed data', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder)
    await remember(owner.url)
    const pid = await serverPid(folder)

    await owner.kill()
    await pollUntil(async () => !(await isAlive(pid)), 'the server to end')

    expect(await recall((await start(folder)).url)).toBe(42)
  })

  test('of the owner, the next start waits for a server that is shutting down', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder)
    await remember(owner.url)

    await owner.kill()

    expect(await recall((await start(folder)).url)).toBe(42)
  })

  test('of the owner without setpriv, the next start stops the orphaned server', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder, { machine: { tools: { ...machine.tools, setpriv: noTool } } })
    await remember(owner.url)
    const pid = await serverPid(folder)
    await owner.kill()
    expect(await recall(owner.url)).toBe(42)

    const next = await start(folder)

    expect(await isAlive(pid)).toBe(false)
    expect(await recall(next.url)).toBe(42)
  })

  test('of the server, its exit is reported, and the next start recovers', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await remember(first.url)
    const reported = new Promise<string>((resolve) => first.onExit(resolve))

    process.kill(await serverPid(folder), 'SIGKILL')

    expect(await reported).toMatch(/^Postgres was terminated by SIGKILL/)
    await first.stop()
    expect(await recall((await start(folder)).url)).toBe(42)
  })

  test('of the server, the next start waits for slow backends', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await remember(first.url)
    const client = new Client({ connectionString: first.url })
    client.on('error', () => undefined)
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const backend = rows[0]?.pid ?? 0
    process.kill(backend, 'SIGSTOP')
    process.kill(await serverPid(folder), 'SIGKILL')
    await first.stop()
    const refusals: string[] = []

    const second = await startEmbeddedPostgres({
      folder,
      log: (line) => {
        if (!line.includes('pre-existing shared memory block')) return
        refusals.push(line)
        process.kill(backend, 'SIGCONT')
      },
    })
    onTestFinished(second.stop)

    expect(refusals).not.toEqual([])
    expect(await recall(second.url)).toBe(42)
  })

  test('a stale pid file with a reused pid affects neither the start nor that process', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await remember(first.url)
    const reported = new Promise<string>((resolve) => first.onExit(resolve))
    const pidFile = join(folder, 'cluster', 'postmaster.pid')
    const left = await readFile(pidFile, 'utf8')
    process.kill(await serverPid(folder), 'SIGKILL')
    await reported
    await first.stop()
    const bystander = startBystander()
    await writeFile(pidFile, left.replace(/^\d+/, String(bystander)))

    const second = await start(folder)

    expect(await recall(second.url)).toBe(42)
    expect(await isAlive(bystander)).toBe(true)
  })
})

describe.runIf(isLinux)('the server', () => {
  test('is killed if it does not respond', async () => {
    const folder = await usedFolder()
    const first = await start(folder, { ...machine, stopDeadlineMs: 200 })
    await remember(first.url)
    const pid = await serverPid(folder)
    process.kill(pid, 'SIGSTOP')

    await first.stop()

    expect(await isAlive(pid)).toBe(false)
    expect(await recall((await start(folder)).url)).toBe(42)
  })

  test('is stopped while clients are connected and busy', async () => {
    const first = await start(await usedFolder())
    const busy = ask(first.url, 'select pg_sleep(600)')
    const refused = expect(busy).rejects.toThrow(/terminating connection|terminated unexpectedly/)
    const sleepers = "select count(*)::int from pg_stat_activity where query = 'select pg_sleep(600)'"
    await pollUntil(async () => (await ask(first.url, sleepers)) === 1, 'a backend to sleep')

    await first.stop()

    await refused
  })

  test('does not report a requested stop', async () => {
    const first = await start(await usedFolder())
    const reports: string[] = []
    first.onExit((reason) => reports.push(reason))

    await first.stop()
    await new Promise(setImmediate)

    expect(reports).toEqual([])
  })

  test('survives Ctrl-C until its owner stops it', async () => {
    const folder = await usedFolder()
    const owner = await startOwner(folder)
    const group = owner.process.pid ?? 0

    process.kill(-group, 'SIGINT')

    await remember(owner.url)
    expect(await recall(owner.url)).toBe(42)
  })

  test('does not inherit the environment of its owner', async () => {
    const folder = await usedFolder()
    await startOwner(folder)

    const environment = await readFile(`/proc/${await serverPid(folder)}/environ`, 'utf8')

    expect(environment).toContain('TZ=UTC')
    expect(environment).not.toContain('SIGNING_KEY')
  })
})

describe('the binaries', () => {
  test('if missing, cause an error that mentions DATABASE_URL', async () => {
    const bare = { ...machine, binaries: [] }

    await expect(start(await newFolder(), bare)).rejects.toThrow(/none are installed.*DATABASE_URL/)
  })

  test('if unusable, cause an error that lists each and mentions DATABASE_URL', async () => {
    const broken = { origin: 'the attic', bin: '/nowhere', packageFolder: null }

    await expect(start(await newFolder(), { ...machine, binaries: [broken] })).rejects.toThrow(
      /the attic.*DATABASE_URL/s,
    )
  })

  test('get the library symlinks that an install without scripts lacks', async () => {
    const [binaries] = machine.binaries
    const packageFolder = await copyPackageWithoutLinks(binaries?.packageFolder ?? '')
    const bin = join(packageFolder, 'native', 'bin')
    const folder = await newFolder()

    const { url } = await start(folder, { ...machine, binaries: [{ origin: 'a copy', bin, packageFolder }] })

    expect(await ask(url, 'select 1')).toBe(1)
    expect(await listFolder(folder)).toEqual(['cluster', 'lock', 'password'])
  })
})

describe.runIf(isRootOnLinux)('users', () => {
  test('an unprivileged user runs the server as itself', async () => {
    const folder = join(await folderOf(nobody), 'data')

    const { url } = await startOwner(folder, { uid: nobody })

    expect(await ask(url, 'select 1')).toBe(1)
    expect((await stat(join(folder, 'cluster'))).uid).toBe(nobody)
  })

  test('an unprivileged user copies a read-only package without symlinks', async () => {
    const folder = join(await folderOf(nobody, { onDisk: true }), 'data')
    const packageFolder = await copyPackageWithoutLinks(machine.binaries[0]?.packageFolder ?? '')
    const bin = join(packageFolder, 'native', 'bin')

    const { url } = await startOwner(folder, {
      uid: nobody,
      machine: { binaries: [{ origin: 'a copy', bin, packageFolder }] },
    })

    expect(await ask(url, 'select 1')).toBe(1)
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^binaries-\d/))
  })

  test('a user receives an error for a folder of another user', async () => {
    const folder = await newFolder()
    await mkdir(folder, { mode: 0o700 })

    await expect(startOwner(folder, { uid: nobody })).rejects.toThrow(/is not writable for this user/)
  })

  test('a user receives an error for a database of another user', async () => {
    const folder = await usedFolder()
    // World-writable, like some mounted volumes.
    await chmod(folder, 0o777)

    await expect(startOwner(folder, { uid: nobody })).rejects.toThrow(
      /lock belongs to uid 0, and this process runs as uid 65534/,
    )
  })

  test('root keeps the files, in a user namespace', async () => {
    const folder = await newFolder()

    const { url } = await start(folder)

    expect(await ask(url, 'select 1')).toBe(1)
    expect((await stat(join(folder, 'cluster'))).uid).toBe(0)
    expect(await readFile(`/proc/${await serverPid(folder)}/uid_map`, 'utf8')).toBe('')
  })

  test('root runs the server as `nobody` without namespaces, and hands over existing data', async () => {
    const folder = await usedFolder()
    const first = await start(folder)
    await remember(first.url)
    await first.stop()

    const second = await start(folder, withTools({ unshare: 'false' }))

    expect(await recall(second.url)).toBe(42)
    expect((await stat(`/proc/${await serverPid(folder)}`)).uid).toBe(nobody)
    expect(await modeOf(folder)).toBe('700')
    await second.stop()
    await (await startOwner(folder, { uid: nobody })).kill()
    // With namespaces again, the data keeps its owner.
    const third = await start(folder)
    expect(await recall(third.url)).toBe(42)
    expect((await stat(`/proc/${await serverPid(folder)}`)).uid).toBe(nobody)
  })

  test('root copies binaries that `nobody` cannot access', async () => {
    const packageFolder = await copyPackageWithoutLinks(machine.binaries[0]?.packageFolder ?? '')
    await chmod(join(packageFolder, '..'), 0o700)
    const bin = join(packageFolder, 'native', 'bin')
    const folder = await newFolder({ onDisk: true })

    const { url } = await start(folder, {
      ...withTools({ unshare: 'false' }),
      binaries: [{ origin: 'a closed folder', bin, packageFolder }],
    })

    expect(await ask(url, 'select 1')).toBe(1)
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^binaries-\d/))
  })

  test('root starts the server however long the copy takes', async () => {
    const packageFolder = await copyPackageWithoutLinks(machine.binaries[0]?.packageFolder ?? '')
    await chmod(join(packageFolder, '..'), 0o700)
    const bin = join(packageFolder, 'native', 'bin')
    const folder = await newFolder({ onDisk: true })
    const isCopied = () =>
      existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('binaries-'))

    const { url } = await start(folder, {
      ...withTools({ unshare: 'false' }),
      binaries: [{ origin: 'a closed folder', bin, packageFolder }],
      now: () => Date.now() + (isCopied() ? machine.startDeadlineMs : 0),
    })

    expect(await ask(url, 'select 1')).toBe(1)
  })

  test('root receives an error that names the folder that `nobody` cannot enter', async () => {
    const closed = await temporaryFolder()
    await chmod(closed, 0o700)

    await expect(start(join(closed, 'data'), withTools({ unshare: 'false' }))).rejects.toThrow(
      `uid ${nobody}, which has no access to ${closed}`,
    )
  })
})

async function folderOf(uid: number, place: { onDisk?: boolean } = {}): Promise<string> {
  const folder = await temporaryFolder(place)
  await chown(folder, uid, uid)
  return folder
}
