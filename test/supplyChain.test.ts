import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { collectLicenses } from '../scripts/bundle.mjs'
import { knownNetworks as evmNetworks } from '../src/chains/evm/networks.js'
import { evmVariables } from '../src/chains/evm/settings.js'
import { solanaVariables } from '../src/chains/solana/settings.js'
import { knownNetworks as tonNetworks } from '../src/chains/ton/networks.js'
import { tonVariables } from '../src/chains/ton/settings.js'
import { knownNetworks as tronNetworks } from '../src/chains/tron/networks.js'
import { tronVariables } from '../src/chains/tron/settings.js'
import { serviceVariables } from '../src/config/environment.js'
import { readConfig } from '../src/config.js'
import { directVariables } from './support/directVariables.js'
import { isProduction, licenseOf, readLock, renderNotice } from './support/notice/renderNotice.js'
import { readText } from './support/readText.js'
import { makeTemporaryFolder } from './support/temporaryFolder.js'

/* Attack A58: code that reaches the service through what it is built from. */

const lockText = readText('package-lock.json')
const lock = readLock(lockText)

describe('the lock file', () => {
  it('has a SHA-512 hash of every package, also of those for other platforms', () => {
    expect(lock.length).toBeGreaterThan(1_000)
    const unhashed = lock.filter(({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    expect(unhashed.map(({ name }) => name)).toEqual([])
  })

  it('names no registry, so that every package comes from the configured one', () => {
    expect(lockText).not.toContain('"resolved"')
  })
})

describe('install scripts', () => {
  const { allowScripts } = z
    .object({ allowScripts: z.record(z.string(), z.boolean()).default({}) })
    .parse(JSON.parse(readText('package.json')))
  const names = lock.map(({ name }) => name)
  const database = names.filter((name) => name.startsWith('@embedded-postgres/')).sort()

  it('are allowed or denied by name for every package that has one', () => {
    const scripted = lock.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name)
    expect(Object.keys(allowScripts).sort()).toEqual([...new Set(scripted)].sort())
    expect(readText('.npmrc')).toMatch(/^strict-allow-scripts=true$/m)
  })

  // Those of the embedded database link its libraries; that of secp256k1 compiles it where it ships no binary.
  it('are allowed only where the service does not start, or is far slower, without them', () => {
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name])
    expect(allowed.sort()).toEqual([...database, 'secp256k1'])
  })

  it('run in the image only for its embedded database', () => {
    const rebuilt = /npm rebuild (.*)$/m.exec(readText('Dockerfile'))?.[1]?.split(' ') ?? []
    expect(rebuilt.sort()).toEqual(database.filter((name) => name.includes('/linux-')))
  })
})

describe('the lock file of the published clients', () => {
  const folder = 'test/e2e/clients'
  const clientsLock = readText(`${folder}/package-lock.json`)

  it('names no registry, and has a hash of every package', () => {
    expect(clientsLock).not.toContain('"resolved"')
    const packages = readLock(clientsLock)
    expect(packages.length).toBeGreaterThan(100)
    expect(packages.filter(({ integrity = '' }) => !integrity.startsWith('sha512-'))).toEqual([])
  })

  it('belongs to exact versions', () => {
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readText(`${folder}/package.json`)))
    expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

describe('dist/licenses.txt', () => {
  it('has the license of each package of the bundle once, also where no file states it', () => {
    const text = collectLicenses([
      'src/main.ts',
      'node_modules/zod/v4/index.js',
      'node_modules/zod/v4/core/index.js',
      'node_modules/@fastify/cors/index.js',
      'node_modules/@stacks/transactions/index.js',
    ])
    const [, ...others] = text.split(/^zod \d+\.\d+\.\d+$/m)
    expect(others).toHaveLength(1)
    expect(others[0]).toContain('Permission is hereby granted')
    expect(text).toMatch(/^@fastify\/cors \d[^\n]*\n\nMIT License/m)
    expect(text).toMatch(/^@stacks\/transactions \d[^\n]*\n\nLicense: MIT\nAuthor: Hiro/m)
  })
})

describe('NOTICE', () => {
  it('lists every package of an installation with its license: `npm run notice` writes it', () => {
    expect(readText('NOTICE')).toBe(renderNotice(lock))
  })

  it('lists only permissive licenses, which let anyone run the service and pass it on', () => {
    const permissive = [
      '0BSD',
      'Apache-2.0',
      'BlueOak-1.0.0',
      'BSD-2-Clause',
      'BSD-3-Clause',
      '(BSD-3-Clause AND Apache-2.0)',
      'ISC',
      'MIT',
      '(MIT AND Apache-2.0)',
      '(MIT AND BSD-3-Clause)',
      'MIT-0',
      'Unlicense',
    ]
    const others = lock.filter((each) => isProduction(each) && !permissive.includes(licenseOf(each)))
    expect(others.map(({ name }) => name)).toEqual([])
  })

  it('is part of the image', () => {
    expect(readText('Dockerfile')).toMatch(/^COPY LICENSE NOTICE /m)
    expect(readText('.dockerignore')).toContain('!NOTICE')
  })
})

const service = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  privileged: z.boolean().default(false),
  security_opt: z.array(z.string()).default([]),
  mem_limit: z.string().default(''),
  entrypoint: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z
    .object({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      start_period: z.string().optional(),
    })
    .optional(),
  stop_grace_period: z.string().default(''),
})
const composeText = readText('docker-compose.yml')
const compose = z
  .object({ services: z.record(z.string(), service) })
  .parse(parseYaml(composeText, { merge: true }))
const services = Object.entries(compose.services).map(([name, each]) => ({ name, ...each }))

// With three numbers, or two where the project has no third.
const exactTag = /:\d+\.\d+(\.\d+)?(-[a-z0-9]+)*$/

describe('images', () => {
  it('are built from an exact tag and its digest', () => {
    const bases = [...readText('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image)
    expect(bases).toHaveLength(2)
    for (const image of bases) expect(image).toMatch(/^node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/)
    expect(new Set(bases).size).toBe(1)
  })

  it('of other projects have an exact tag', () => {
    const foreign = services.filter(({ build }) => build === undefined)
    expect(foreign).toHaveLength(3)
    for (const { image } of foreign) expect(image).toMatch(exactTag)
  })
})

describe('the Dockerfile', () => {
  const dockerfile = readText('Dockerfile')
  const image = readText('.ci/image')

  it('builds by the steps that .ci/image proves', () => {
    const isStep = (line: string) => /^(npm (ci|rebuild|run|prune)|\.ci\/)/.test(line)
    const steps = [...dockerfile.matchAll(/^RUN (.*)$/gm)]
      .flatMap(([, run = '']) => run.split(' && '))
      .filter(isStep)
    expect(steps).toEqual([
      'npm ci --ignore-scripts',
      expect.stringMatching(/^npm rebuild /),
      'npm run build',
      'npm prune --omit=dev --ignore-scripts',
      '.ci/prune-modules',
    ])
    const proven = image.split('\n').map((line) => line.trim())
    expect(proven.filter(isStep)).toEqual(steps)
    for (const name of ['prune-modules', 'prune-unreached.mjs']) {
      expect(dockerfile).toMatch(new RegExp(`^COPY .*\\.ci/${name}.* \\./\\.ci/$`, 'm'))
      expect(readText('.dockerignore').split('\n')).toContain(`!.ci/${name}`)
    }
  })

  it('takes the embedded database and the version as arguments', () => {
    expect(dockerfile).toMatch(/^ARG EMBEDDED_POSTGRES=true$/m)
    expect(dockerfile).toMatch(/^ARG VERSION=$/m)
  })

  it('runs the service as an unprivileged user', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
  })

  it('has the service as its entrypoint, by a name that `docker exec` finds as well', () => {
    expect(dockerfile).toContain('ln -s /app/dist/main.js /usr/local/bin/quittance')
    expect(dockerfile).toMatch(/^ENTRYPOINT \["quittance"\]\nCMD \["start"\]$/m)
    // Its arguments to Node.js are those of `npm start`.
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readText('package.json')))
    const [hashbang] = readText('src/main.ts').split('\n')
    const flags = /node (--\S+)$/.exec(hashbang ?? '')?.[1]
    expect(scripts.start).toBe(`exec node ${flags} scripts/start.mjs`)
  })

  it('lets no .env file into the build, whatever its name', () => {
    const lines = readText('.dockerignore').trim().split('\n')
    expect(lines[0]).toBe('*')
    expect(lines.at(-1)).toBe('**/.env*')
    expect(lines.filter((line) => /^!.*env/.test(line))).toEqual([])
  })
})

describe('.ci/prune-modules', () => {
  const manifest = (fields: object = {}) => JSON.stringify({ name: 'any', version: '1.0.0', ...fields })
  const twins = { exports: { '.': { import: './esm/index.js', require: './cjs/index.cjs' } }, type: 'module' }
  const prebuild = `native/prebuilds/${process.platform}-${process.arch}/x.node`
  const native = '@embedded-postgres/x/native'
  const extensions = `${native}/share/postgresql/extension`
  const kept = {
    'twins/package.json': manifest(twins),
    'twins/LICENSE': '',
    'twins/esm/index.js': "/*! banner */ import './next.js'\n// import 'uninstalled'",
    'twins/esm/next.js': "import data from './data.json' with { type: 'json' }\nexport * from '#inner'",
    'twins/esm/data.json': '{}',
    // Two programs load it, each by another of its twins.
    'both/package.json': manifest(twins),
    'both/esm/index.js': '',
    'both/cjs/index.cjs': '',
    'required/package.json': manifest({ dependencies: { nested: '1', both: '1' } }),
    'required/index.js': "try { require('optional') } catch {}\nload('nested'); require('both')",
    'required/node_modules/nested/package.json': manifest(),
    'required/node_modules/nested/index.js': "new Worker(resolve('./worker'))",
    'required/node_modules/nested/worker.js': '',
    'native/package.json': manifest(),
    'native/index.js': "require('node-gyp-build')(__dirname)",
    'native/any/program.js': '',
    [prebuild]: '',
    'literal/package.json': manifest(),
    'literal/index.js': "throw new Error('revert: require(false)')",
    '@embedded-postgres/x/package.json': manifest(),
    [`${native}/bin/postgres`]: '',
    [`${native}/lib/libpq.so`]: '',
    [`${native}/lib/postgresql/plpgsql.so`]: '',
    [`${native}/lib/postgresql/utf8_and_any.so`]: '',
    [`${extensions}/plpgsql.control`]: "module_pathname = '$libdir/plpgsql'",
    [`${extensions}/plpgsql--1.0.sql`]: '',
  }
  const removed = {
    'twins/cjs/index.cjs': '',
    'twins/esm/unreached.js': '',
    'twins/esm/index.js.map': '',
    'twins/index.d.ts': '',
    'twins/node_modules/@types/node/package.json': manifest(),
    'typescript/package.json': manifest(),
    'typescript/LICENSE': '',
    'typescript/index.js': '',
    'uninstalled/index.js': '',
    'required/README.md': '',
    'native/prebuilds/other-arch/x.node': '',
    'native/src/x.cc': '',
    'native/src/x.ts': '',
    'native/test/index.js': '',
    'literal/other.js': '',
    [`${native}/lib/libpq.a`]: '',
    [`${native}/lib/postgresql/pgxs/Makefile`]: '',
    [`${native}/lib/postgresql/pgxml.so`]: '',
    [`${extensions}/xml2.control`]: "comment = 'XPath'\nmodule_pathname = '$libdir/pgxml'",
    [`${extensions}/xml2--1.1.sql`]: '',
  }

  it('keeps the files that imports of the service reach, and those that a reached program may compute', async () => {
    const folder = await makeTemporaryFolder('quittance-prune-')
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const list = (part: string) =>
      readdirSync(join(folder, part), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(join(folder, part), join(entry.parentPath, entry.name)))
        .sort()
    const prune = (embedded?: string) =>
      execFileSync(fileURLToPath(new URL('../.ci/prune-modules', import.meta.url)), {
        cwd: folder,
        env: { PATH: process.env.PATH, ...(embedded === undefined ? {} : { EMBEDDED_POSTGRES: embedded }) },
        stdio: 'pipe',
      }).toString()
    try {
      for (const [path, text] of Object.entries({ ...kept, ...removed })) write(`node_modules/${path}`, text)
      expect(() => prune()).toThrow('no node_modules here')
      write(
        'package.json',
        manifest({
          type: 'module',
          dependencies: { twins: '1', native: '1', literal: '1' },
          optionalDependencies: { '@embedded-postgres/x': '1', '@embedded-postgres/of-other-platform': '1' },
        }),
      )
      mkdirSync(join(folder, 'dist'))
      expect(() => prune()).toThrow('dist has no program')
      write(
        'dist/main.js',
        "import { a } from 'twins'\nawait import('required')\nimport 'both'\nimport 'node:fs'",
      )
      write('dist/native.js', "createRequire(import.meta.url)('native'); load('literal')")
      expect(prune()).toMatch(/^node_modules: \d+ MB before, \d+ MB after pruning$/m)
      expect(list('node_modules')).toEqual(Object.keys(kept).sort())
      prune()
      expect(list('node_modules')).toEqual(Object.keys(kept).sort())
      prune('false')
      expect(list('node_modules').filter((path) => path.startsWith('@embedded-postgres'))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the version', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readText('package.json')))

  it('has a section in CHANGELOG.md', () => {
    expect(readText('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')}`, 'm'))
  })
})

describe('docker-compose.yml', () => {
  it.each(services)('gives $name no more than it needs', (each) => {
    expect(each).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      cap_add: [],
      privileged: false,
      security_opt: ['no-new-privileges:true'],
    })
    expect(each.mem_limit).toMatch(/^\d+[mg]$/)
  })

  it('contains no password', () => {
    expect(composeText).not.toMatch(/PASSWORD: (?!"\$\{\w+:-\}")|:\/\/\w*:\w+@/)
    expect(compose.services.redis?.command.join()).toContain('requirepass $$(cat ')
  })

  it('passes every setting of .env to the service, with each built-in network, in every version of Compose', () => {
    // The long form of env_file, for a file that may be absent, needs Compose 2.24.
    expect(composeText).not.toContain('env_file')
    const stores = ['DATABASE_URL', 'DATABASE_PASSWORD', 'REDIS_URL', 'REDIS_PASSWORD']
    const decided = ['HOST', 'PORT', 'DATA_FOLDER', ...stores]
    const families = [
      { variables: evmVariables, networks: evmNetworks.map(({ chainId }) => String(chainId)) },
      { variables: solanaVariables, networks: ['mainnet', 'devnet'] },
      { variables: tonVariables, networks: tonNetworks.map(({ name }) => name) },
      { variables: tronVariables, networks: tronNetworks.map(({ name }) => name) },
      ...directVariables.map(({ variables, networks }) => ({
        variables,
        networks: networks.map(({ name }) => name),
      })),
    ]
    const names = [
      ...serviceVariables.filter((name) => !decided.includes(name)),
      ...families.flatMap(({ variables, networks }) => [
        ...variables.family,
        ...variables.perNetwork.flatMap((name) => networks.map((id) => name.replace(/<.*>$/, id))),
      ]),
    ]
    const { HOST, PORT, DATA_FOLDER, ...others } = compose.services.quittance?.environment ?? {}
    const isOfStore = (name: string) => stores.includes(name.replace(/_FILE$/, ''))
    const passed = Object.fromEntries(Object.entries(others).filter(([name]) => !isOfStore(name)))
    expect(passed).toEqual(Object.fromEntries(names.map((name) => [name, `\${${name}:-}`])))
    // A .env of another deployment cannot break these.
    expect({ HOST, PORT, DATA_FOLDER }).toEqual({ HOST: '0.0.0.0', PORT: '8080', DATA_FOLDER: '/data' })
    const opening = composeText.slice(0, composeText.indexOf('x-settings'))
    for (const name of decided) expect(opening).toContain(name)
  })

  it('waits for Postgres by TCP, which it accepts only after its initialization', () => {
    const { healthcheck } = compose.services.postgres ?? {}
    expect(healthcheck?.test.join(' ')).toBe('CMD pg_isready -h 127.0.0.1 -U quittance')
  })

  it('gives the service longer to stop than running settlements take', () => {
    expect(compose.services.quittance?.stop_grace_period).toBe('45s')
  })

  it('generates a password for each store once', async () => {
    const folder = await makeTemporaryFolder('quittance-passwords-')
    try {
      for (const store of ['postgres', 'redis']) mkdirSync(join(folder, store))
      const script = compose.services.passwords?.command[0] ?? ''
      const run = () => {
        const shell = script.replaceAll('$$', '$').replaceAll('/passwords', folder)
        execFileSync('sh', ['-ceu', shell])
        return ['postgres', 'redis'].map((store) => readFileSync(join(folder, store, 'password'), 'utf8'))
      }
      const passwords = run()
      for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{64}$/)
      expect(new Set(passwords).size).toBe(2)
      expect(run()).toEqual(passwords)
      expect(statSync(join(folder, 'redis', 'password')).mode & 0o777).toBe(0o444)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('keeps Redis below the memory limit of its container, where the kernel would end it', () => {
    const { command = [], mem_limit: limit = '' } = compose.services.redis ?? {}
    const configuration = command.join('\n')
    const megabytes = Number(/^maxmemory (\d+)mb$/m.exec(configuration)?.[1])
    expect(limit).toBe('256m')
    expect(megabytes).toBeGreaterThanOrEqual(64)
    expect(megabytes).toBeLessThanOrEqual(0.75 * 256)
    expect(configuration).toMatch(/^maxmemory-policy noeviction$/m)
  })

  it('checks the health of the service as the Dockerfile does, whose check OCI images lose', () => {
    const [, options = '', check = ''] = /^HEALTHCHECK (.*) CMD (.*)$/m.exec(readText('Dockerfile')) ?? []
    const { healthcheck } = compose.services.quittance ?? {}
    expect(healthcheck?.test).toEqual(['CMD', ...z.array(z.string()).parse(JSON.parse(check))])
    const { interval, timeout, start_period: startPeriod } = healthcheck ?? { interval: '', timeout: '' }
    expect(`--interval=${interval} --timeout=${timeout} --start-period=${startPeriod}`).toBe(options)
  })

  it('gives each store its address, and its password as a file that the service reads itself', async () => {
    const { environment = {}, entrypoint, command } = compose.services.quittance ?? {}
    // What `run` and `exec` start has the environment of the service, and no shell in between.
    expect({ entrypoint, command }).toEqual({ entrypoint: [], command: [] })
    const folder = await makeTemporaryFolder('quittance-passwords-')
    try {
      for (const store of ['postgres', 'redis']) {
        mkdirSync(join(folder, store))
        writeFileSync(join(folder, store, 'password'), `secret-of-${store}\n`)
      }
      const given = Object.entries(environment).map(([name, value]) => [
        name,
        // As Compose does with a .env without any of them.
        value.replace(/^\$\{\w+:-\}$/, '').replace(/^\/passwords(?=\/)/, folder),
      ])
      const { stores } = readConfig(Object.fromEntries(given))
      expect(stores.databaseUrl?.reveal()).toBe(
        'postgres://quittance:secret-of-postgres@postgres:5432/quittance',
      )
      expect(stores.redisUrl?.reveal()).toBe('redis://:secret-of-redis@redis:6379')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
