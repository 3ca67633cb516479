import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readEvmSettings } from '../src/chains/evm/settings.js'
import { listSettings } from '../src/cli/admin/listSettings.js'
import { ConfigError, readConfig } from '../src/config.js'
import { isSecretName, nameOfSecretFile, readSecretFiles } from '../src/platform/secretFiles.js'
import { readText } from './support/readText.js'
import { makeTemporaryFolder } from './support/temporaryFolder.js'

const key = `0x${'ab'.repeat(32)}`

let folder: string
beforeAll(async () => {
  folder = await makeTemporaryFolder('quittance-secrets-')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const problemsOf = (environment: Readonly<Record<string, string>>, inFile: readonly string[] = []) => {
  try {
    readConfig(environment, undefined, inFile)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const nobody = 65_534

describe('a secret in a file', () => {
  it('is any setting of the kind, and no other', () => {
    const names = Object.keys(parseEnv(readText('.env.example').replaceAll(/^#(?=[A-Z]\w*=)/gm, '')))
    const secrets = names.filter(isSecretName).map((name) => name.replace(/_(?:[0-9]+|[a-z]+)$/, ''))
    const isOfFamily = (name: string) =>
      /^[A-Z]+_(?:PRIVATE_KEY|(?:HOLD|CHANNEL)_AUTHORIZER_KEY|MNEMONIC|API_KEY|RPC_URL|TZKT_URL)$/.test(name)
    expect(secrets.filter((name) => !isOfFamily(name)).sort()).toEqual([
      'DATABASE_PASSWORD',
      'DATABASE_READ_PASSWORD',
      'DATABASE_READ_URL',
      'DATABASE_URL',
      'KEY_ENCRYPTION_PREVIOUS_SECRET',
      'KEY_ENCRYPTION_SECRET',
      'METRICS_TOKEN',
      'OPERATOR_TOKEN',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'REDIS_PASSWORD',
      'REDIS_URL',
      'SMTP_URL',
    ])
    expect(secrets).toEqual(
      expect.arrayContaining([
        'EVM_PRIVATE_KEY',
        'TON_MNEMONIC',
        'TRON_API_KEY',
        'NEAR_RPC_URL',
        'TEZOS_TZKT_URL',
      ]),
    )
  })

  it('is read by the configuration, of the service and of each family, for one network and for all', () => {
    const paths = {
      EVM_PRIVATE_KEY_FILE: write('key', `  ${key}\n`),
      EVM_RPC_URL_8453_FILE: write('node', 'https://node.example/v2/key\n'),
      OPERATOR_TOKEN_FILE: write('token', 'an-operator-token\r\n'),
      KEY_ENCRYPTION_SECRET_FILE: write('secret', `${'s'.repeat(32)}\n`),
    }
    const { operatorToken, accounts, chains } = readConfig(paths)
    expect(operatorToken?.reveal()).toBe('an-operator-token')
    expect(accounts.keyEncryptionSecret?.reveal()).toBe('s'.repeat(32))
    expect(chains.map(({ namespace }) => namespace)).toEqual(['eip155'])
    const evm = readEvmSettings(readSecretFiles(paths).environment)
    const { networks = [], privateKeys = [] } = 'settings' in evm ? (evm.settings ?? {}) : {}
    expect(privateKeys[0]?.reveal()).toContain('ab'.repeat(32))
    expect(networks.map(({ rpcUrls }) => rpcUrls.map((url) => url.reveal()))).toEqual([
      ['https://node.example/v2/key'],
    ])
  })

  it.each([
    ['that does not exist', () => join(folder, 'missing'), 'names a file that does not exist'],
    ['that is the secret itself', () => key, 'it must be a path, not the secret itself'],
    ['that is empty', () => write('empty', ' \n'), 'names an empty file'],
    ['that is a folder', () => folder, 'must be the path of a regular file'],
    ['that never ends', () => '/dev/zero', 'must be the path of a regular file'],
    ['that is too long', () => write('long', 'a'.repeat(65_537)), 'a file of at most 65536 bytes'],
  ])('%s stops the start, and the message holds no value', (_name, path, words) => {
    const problems = problemsOf({ EVM_PRIVATE_KEY_FILE: path() })
    expect(problems).toEqual([expect.stringMatching(/^EVM_PRIVATE_KEY_FILE: /)])
    expect(problems[0]).toContain(words)
    expect(problems[0]).not.toContain(path())
  })

  it('names the user that may not read it', () => {
    const path = write('closed', key)
    chmodSync(path, 0)
    const uid = process.getuid?.()
    // The superuser may read everything.
    if (uid === 0) process.seteuid?.(nobody)
    try {
      const [problem] = problemsOf({ EVM_PRIVATE_KEY_FILE: path })
      expect(problem).toContain(`may not read`)
      expect(problem).toContain(`uid ${uid === 0 ? nobody : uid}`)
    } finally {
      if (uid === 0) process.seteuid?.(0)
    }
  })

  it('must not stand beside the setting itself', () => {
    const environment = {
      OPERATOR_TOKEN: 'an-operator-token',
      OPERATOR_TOKEN_FILE: write('other', 'x'.repeat(20)),
    }
    expect(problemsOf(environment)).toEqual(['OPERATOR_TOKEN_FILE: must not be set beside OPERATOR_TOKEN'])
  })

  it('is absent where its path is empty, as Compose passes it', () => {
    expect(problemsOf({ EVM_PRIVATE_KEY_FILE: '', EVM_PRIVATE_KEY: key })).toEqual([])
  })

  it('is refused for a setting that is no secret, and with "did you mean" where the name has a slip', () => {
    expect(problemsOf({ EVM_NETWORKS_FILE: '/x' })).toEqual([
      'EVM_NETWORKS_FILE: is not a known setting; only secrets can be given as files, and EVM_NETWORKS is none',
    ])
    expect(problemsOf({ LOG_LEVEL_FILE: '/x' }, ['LOG_LEVEL_FILE'])).toEqual([
      expect.stringMatching(/^LOG_LEVEL_FILE: .*only secrets can be given as files/),
    ])
    expect(problemsOf({ DATABASE_PASWORD_FILE: '/x' })).toEqual([
      expect.stringMatching(/did you mean DATABASE_PASSWORD_FILE\?/),
    ])
    // Another program's.
    expect(problemsOf({ LOG_LEVEL_FILE: '/x', SSL_CERT_FILE: '/x', POSTGRES_PASSWORD_FILE: '/x' })).toEqual(
      [],
    )
  })

  it('is a setting in .env too', () => {
    const path = write('token', 'an-operator-token')
    expect(problemsOf({ OPERATOR_TOKEN_FILE: path }, ['OPERATOR_TOKEN_FILE'])).toEqual([])
  })

  it('is listed by `admin config` as from a file, without its value', () => {
    const settings = listSettings({
      OPERATOR_TOKEN_FILE: write('token', 'an-operator-token'),
      EVM_PRIVATE_KEY_FILE: write('key', key),
      EVM_RPC_URL_8453: 'https://node.example/v2/key',
    })
    const find = (name: string) => settings.find((each) => each.name === name)
    expect(find('OPERATOR_TOKEN')).toEqual({
      name: 'OPERATOR_TOKEN',
      value: null,
      source: 'file',
      isSecret: true,
    })
    expect(find('EVM_PRIVATE_KEY')).toMatchObject({ value: null, source: 'file', isSecret: true })
    expect(find('EVM_RPC_URL_8453')).toMatchObject({ value: 'https://node.example', source: 'environment' })
    expect(find('METRICS_TOKEN')).toMatchObject({ source: 'unset' })
  })

  it('is never taken for the file of a setting without a name', () => {
    expect(nameOfSecretFile('_FILE')).toBeNull()
    expect(nameOfSecretFile('FILE')).toBeNull()
  })
})

describe('the password of a store', () => {
  const awkward = 'a%41/@:é ?#[]'

  it.each([
    ['DATABASE_URL', 'DATABASE_PASSWORD', 'postgres://quittance@db.example:5432/quittance', 'databaseUrl'],
    ['REDIS_URL', 'REDIS_PASSWORD', 'rediss://cache.example:6379/1', 'redisUrl'],
  ] as const)('completes %s, whatever its characters', (url, password, text, name) => {
    const { stores } = readConfig({ [url]: text, [`${password}_FILE`]: write('password', `${awkward}\n`) })
    const complete = new URL(stores[name]?.reveal() ?? '')
    expect(decodeURIComponent(complete.password)).toBe(awkward)
    complete.password = ''
    expect(complete.href).toBe(text)
  })

  it('becomes a parameter where a socket has no user part', () => {
    const { databaseUrl } = readConfig({
      DATABASE_URL: 'postgres:///quittance?host=/run/postgresql',
      DATABASE_PASSWORD: awkward,
    }).stores
    const { searchParams, pathname } = new URL(databaseUrl?.reveal() ?? '')
    expect([pathname, searchParams.get('host'), searchParams.get('password')]).toEqual([
      '/quittance',
      '/run/postgresql',
      awkward,
    ])
  })

  it('of the database is never sent to its replica, which may be on another host', () => {
    const environment = {
      DATABASE_URL: 'postgres://quittance@db.example/quittance',
      DATABASE_PASSWORD: 'hunter2',
      DATABASE_READ_URL: 'postgres://quittance@replica.example/quittance',
    }
    const { databaseReadUrl } = readConfig(environment).stores
    expect(databaseReadUrl?.reveal()).toBe(environment.DATABASE_READ_URL)
    const both = readConfig({ ...environment, DATABASE_READ_PASSWORD: 'other' }).stores
    expect(both.databaseReadUrl?.reveal()).toBe('postgres://quittance:other@replica.example/quittance')
  })

  it('must agree with the one in the URL, and needs a URL', () => {
    const url = 'postgres://quittance:hunter%32@db.example/quittance'
    expect(problemsOf({ DATABASE_URL: url, DATABASE_PASSWORD: 'hunter2' })).toEqual([])
    expect(problemsOf({ DATABASE_URL: url, DATABASE_PASSWORD: 'hunter3' })).toEqual([
      'DATABASE_PASSWORD: differs from the password in DATABASE_URL: remove one of them',
    ])
    expect(problemsOf({ REDIS_URL: 'redis://h?password=a', REDIS_PASSWORD: 'b' })).toHaveLength(1)
    expect(problemsOf({ REDIS_PASSWORD: 'hunter2' })).toEqual([
      'REDIS_URL: must be set when REDIS_PASSWORD is set',
    ])
    expect(problemsOf({ DATABASE_URL: 'postgres://h/d', DATABASE_PASSWORD: 'two\nlines' })).toEqual([
      'DATABASE_PASSWORD: must be one line',
    ])
  })
})
