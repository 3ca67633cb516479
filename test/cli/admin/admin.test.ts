import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runCommandLine } from '../../../src/cli/admin/createInstallation.js'
import { type Installation, runAdmin } from '../../../src/cli/admin/runAdmin.js'
import { composeCore } from '../../../src/compose.js'
import { readConfig } from '../../../src/config.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createSealers } from '../../../src/platform/sealer.js'
import { Secret } from '../../../src/platform/secret.js'
import type { Account } from '../../../src/ports/accountStore.js'
import { tiers } from '../../../src/protocol/tiers.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { createAuditLog } from '../../../src/stores/postgres/accounts/auditLog.js'
import { emptyTables } from '../../support/emptyTables.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { findProgram } from '../../support/program.js'
import { spawnChild } from '../../support/spawnChild.js'
import { makeTemporaryFolder } from '../../support/temporaryFolder.js'

const main = new URL('../../../src/main.ts', import.meta.url)
const shown = z.array(z.object({ id: z.string(), tier: z.string(), status: z.string() }).loose())

/** Runs the command in a process without a terminal. */
const admin = async (words: readonly string[], environment: Readonly<Record<string, string>>) => {
  const { flags, file } = findProgram(main)
  const child = spawnChild([process.execPath, ...flags, file, 'admin', ...words], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, output, stderr }
}

/** The same without a process, for what a command that succeeds prints and changes. */
const adminHere = async (words: readonly string[], environment: Readonly<Record<string, string>>) => {
  const [output, prompts] = [new PassThrough(), new PassThrough()]
  const code = await runCommandLine(words, { environment }, { input: new PassThrough(), output, prompts })
  return { code, output: String(output.read() ?? ''), stderr: String(prompts.read() ?? '') }
}

describe('npm run admin -- keys', () => {
  const database = useTestDatabase()
  let ada: Account
  let eve: Account

  const open = async (email: string, project: string): Promise<Account> => {
    const fingerprint = Buffer.from(`${email} ${project}`)
    const { account } = await accounts.register({ email, project }, { fingerprint, sealed: Buffer.from('x') })
    return account
  }
  const stores = () => ({
    accounts,
    audit: createAuditLog(database.pool),
    settlements: { search: async () => [], find: async () => null },
    reseal: async () => ({ keys: 0, webhooks: 0, failed: 0 }),
  })
  const unused = async (): Promise<never> => {
    throw new Error('Not used here')
  }
  const installation = (onOpen: () => void = () => undefined): Installation => ({
    listTiers: () => Object.keys(tiers),
    openStores: async () => {
      onOpen()
      return { ...stores(), close: async () => undefined }
    },
    check: unused,
    listSettings: () => [],
    readCallers: unused,
    backUp: unused,
    restore: unused,
    archive: unused,
    exportConsumed: unused,
    importConsumed: unused,
    exportBindings: unused,
    importBindings: unused,
  })
  const run = (...words: readonly string[]) => admin(words, { DATABASE_URL: database.url })
  const runHere = (...words: readonly string[]) => adminHere(words, { DATABASE_URL: database.url })

  const accounts = createAccountStore(database.pool)
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys')
    ada = await open('ada@example.com', 'engine')
    eve = await open('eve@example.com', 'stall')
  })

  it('lists the accounts as a table and as JSON', async () => {
    const forPeople = await run('keys', 'list')
    expect(forPeople).toMatchObject({ code: 0, stderr: '' })
    const [head, first, second] = forPeople.output.split('\n')
    expect(head).toMatch(/^ACCOUNT +TIER +STATUS +CREATED +EMAIL +PROJECT$/)
    expect(first).toMatch(new RegExp(`^${ada.id} +free +active +\\S+Z +ada@example.com +engine$`))
    expect(second).toContain(eve.id)
    const { output } = await runHere('keys', 'list', '--json')
    expect(shown.parse(JSON.parse(output)).map(({ id }) => id)).toEqual([ada.id, eve.id])
  })

  it('sets a tier and prints the updated account', async () => {
    const { code, output } = await runHere('keys', 'set-tier', ada.id, 'scale', '--json')
    expect(code).toBe(0)
    expect(shown.parse(JSON.parse(output))).toMatchObject([{ id: ada.id, tier: 'scale' }])
    expect(await accounts.find(ada.id)).toMatchObject({ tier: 'scale' })
    expect(await accounts.find(eve.id)).toMatchObject({ tier: 'free' })
  })

  it('removes the restrictions of the given account only', async () => {
    for (const { id } of [ada, eve]) {
      await accounts.setRestrictions(id, { allowedIPs: ['192.0.2.1/32'], allowedRef: ['example.com'] })
    }
    const { code, output } = await runHere('keys', 'unrestrict', ada.id, '--json')
    expect(code).toBe(0)
    expect(shown.parse(JSON.parse(output))).toMatchObject([{ id: ada.id, allowedIPs: null }])
    expect(await accounts.find(ada.id)).toMatchObject({ allowedIPs: null, allowedRef: null })
    expect(await accounts.find(eve.id)).toMatchObject({ allowedIPs: ['192.0.2.1/32'] })
  })

  it('shows the changes of an account, with those of operators', async () => {
    await runHere('keys', 'set-tier', ada.id, 'scale')
    const { code, output } = await runHere('keys', 'audit', ada.id)
    expect(code).toBe(0)
    const [head, newest, oldest] = output.split('\n')
    expect(head).toMatch(/^TIME +ACTION +ACTOR +ADDRESS +DETAILS$/)
    expect(newest).toMatch(/tier\.changed +operator +- +\{"to":"scale","from":"free"\}/)
    expect(oldest).toContain('account.registered')
    const json = await runHere('keys', 'audit', eve.id, '--json')
    expect(JSON.parse(json.output)).toMatchObject([{ action: 'account.registered', accountId: eve.id }])
  })

  it('encrypts stored keys with a new secret, after which the old one is not needed', async () => {
    const [oldSecret, newSecret] = ['o'.repeat(32), 'n'.repeat(32)]
    const sealerOf = (secret: string) => createSealers(new Secret(secret)).sealerFor('api-key')
    await emptyTables(database.pool, 'accounts', 'api_keys', 'sealing_secret')
    const id = randomUUID()
    const apiKey = 'a key'
    const old = sealerOf(oldSecret)
    const key = { fingerprint: old.fingerprint(apiKey), sealed: old.seal(apiKey, id) }
    await accounts.register({ id, email: 'ada@example.com', project: 'engine' }, key)
    const environment = { DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: newSecret }
    const lost = await admin(['keys', 'reseal'], environment)
    expect(lost).toMatchObject({ code: 1, output: '' })
    expect(lost.stderr).toContain('1 rows could not be opened')

    const done = await adminHere(['keys', 'reseal', '--json'], {
      ...environment,
      KEY_ENCRYPTION_PREVIOUS_SECRET: oldSecret,
    })
    expect(done.stderr).toBe('')
    expect(JSON.parse(done.output)).toEqual({ keys: 1, webhooks: 0, failed: 0 })
    const [keyed] = await accounts.listByEmail('ada@example.com')
    expect(sealerOf(newSecret).open(keyed?.sealed ?? new Uint8Array(), id)).toBe(apiKey)
    expect((await accounts.findByKey(sealerOf(newSecret).fingerprint(apiKey)))?.account.id).toBe(id)
  })

  it('revokes nothing without confirmation', async () => {
    const unasked = await run('keys', 'revoke', ada.id)
    expect(unasked).toMatchObject({ code: 1, output: '' })
    expect(unasked.stderr).toContain('pass --yes to confirm')
    expect(await accounts.find(ada.id)).toMatchObject({ status: 'active' })

    const confirmed = await runHere('keys', 'revoke', ada.id, '--yes')
    expect(confirmed).toMatchObject({ code: 0, stderr: '' })
    expect(await accounts.find(ada.id)).toMatchObject({ status: 'revoked' })
    expect(await accounts.find(eve.id)).toMatchObject({ status: 'active' })
  })

  it.each([
    { answer: 'yes', status: 'revoked' },
    { answer: 'y', status: 'active' },
    { answer: '', status: 'active' },
  ])(
    'asks for confirmation on a terminal; after $answer the account is $status',
    async ({ answer, status }) => {
      const questions: string[] = []
      const terminal = {
        print: () => undefined,
        ask: async (question: string) => {
          questions.push(question)
          return answer
        },
      }
      await runAdmin(['keys', 'revoke', ada.id], terminal, installation()).catch(() => undefined)
      expect(questions).toEqual(['Permanently revoke the key of "engine" (ada@example.com)? Type yes: '])
      expect(await accounts.find(ada.id)).toMatchObject({ status })
    },
  )

  it.each([
    { words: [], message: 'the first word must be keys' },
    { words: ['keys'], message: 'The commands are' },
    { words: ['keys', 'delete'], message: 'The commands are' },
    { words: ['keys', 'list', 'all'], message: 'takes 0 arguments' },
    { words: ['keys', 'list', '--all'], message: "Unknown option '--all'" },
    { words: ['keys', 'revoke', 'ada@example.com'], message: 'given by its id' },
    { words: ['keys', 'set-tier', '00000000-0000-4000-8000-000000000000', 'gold'], message: 'The tiers are' },
    {
      words: ['keys', 'set-tier', '00000000-0000-4000-8000-000000000000', 'toString'],
      message: 'The tiers are',
    },
  ])('rejects $words before it opens the database', async ({ words, message }) => {
    const opened: string[] = []
    const refused = runAdmin(
      words,
      { print: () => undefined, ask: async () => null },
      installation(() => opened.push('opened')),
    )
    await expect(refused).rejects.toThrow(message)
    expect(opened).toEqual([])
  })

  it('prints usage and exits with code 2, or with code 1 for an unknown account', async () => {
    const misspelt = await run('keys', 'lst')
    expect(misspelt).toMatchObject({ code: 2, output: '' })
    expect(misspelt.stderr).toMatch(/^Usage: node \S*main\.\w+ admin <command>$/m)
    const missing = await run('keys', 'set-tier', '00000000-0000-4000-8000-000000000000', 'scale')
    expect(missing).toMatchObject({ code: 1, output: '' })
    expect(missing.stderr).toBe('Account 00000000-0000-4000-8000-000000000000 does not exist.\n')
  })
})

describe('npm run admin -- keys, on the embedded database', () => {
  it('works while the service is running and while it is stopped', async () => {
    const folder = await makeTemporaryFolder('quittance-admin-', { onDisk: true })
    const environment = { DATA_FOLDER: `${folder}/data` }
    try {
      const core = await composeCore(readConfig(environment), {
        clock: systemClock,
        logger: silentLogger,
        measuresProcess: false,
      })
      try {
        const { dashboard } = core.useCases
        const { apiKey } = await dashboard.register(
          { email: 'ada@example.com', projectName: 'engine' },
          'stranger',
        )
        const use = { apiKey, address: '203.0.113.7', refererHost: null }
        const { id } = await dashboard.authenticate(use)
        expect(await admin(['keys', 'revoke', id, '--yes'], environment)).toMatchObject({ code: 0 })
        // Another process tells the service by a notification.
        const refusal = () =>
          dashboard.authenticate(use).then(
            () => null,
            (error: unknown) => error,
          )
        expect(await pollUntil(refusal, 'the revoked key to be refused')).toMatchObject({
          code: 'UNAUTHORIZED',
        })
      } finally {
        await core.close()
      }
      const listed = await admin(['keys', 'list', '--json'], environment)
      expect(shown.parse(JSON.parse(listed.output))).toMatchObject([{ status: 'revoked' }])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
