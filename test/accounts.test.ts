import { describe, expect, it } from 'vitest'
import { type Core, composeCore } from '../src/compose.js'
import { readConfig } from '../src/config.js'
import { systemClock } from '../src/platform/clock.js'
import type { Logger } from '../src/ports/logger.js'
import { createMemoryLogger } from './support/memoryLogger.js'
import { pollUntil } from './support/pollUntil.js'
import { useTestDatabase } from './support/postgres.js'

const secret = 'instances-of-a-test-share-this-secret'

describe('accounts of instances that share a database', () => {
  const database = useTestDatabase()
  const open = (environment: Readonly<Record<string, string>>, logger: Logger): Promise<Core> =>
    composeCore(readConfig({ DATABASE_URL: database.url, SANDBOX: 'false', ...environment }), {
      clock: systemClock,
      logger,
      measuresProcess: false,
    })

  it('are the same on both, and a key rotated on one is invalid on the other', async () => {
    const logger = createMemoryLogger()
    const ours = await open({ KEY_ENCRYPTION_SECRET: secret }, logger)
    const theirs = await open({ KEY_ENCRYPTION_SECRET: secret }, logger)
    try {
      const request = { email: 'ada@example.com', projectName: 'engine' }
      const { apiKey } = await ours.useCases.dashboard.register(request, 'stranger')
      expect(await theirs.useCases.dashboard.register(request, 'trusted')).toMatchObject({
        apiKey,
        isNew: false,
      })
      const use = { apiKey, address: '203.0.113.7', refererHost: null }
      const account = await theirs.useCases.dashboard.authenticate(use)
      await ours.useCases.dashboard.rotateKey(account, apiKey)
      await expect(ours.useCases.dashboard.authenticate(use)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
      await pollUntil(
        () =>
          theirs.useCases.dashboard.authenticate(use).then(
            () => false,
            () => true,
          ),
        'the key to be dead there too',
      )
    } finally {
      await ours.close()
      await theirs.close()
    }
  })

  it('prevent the start of an instance with another encryption secret', async () => {
    const other = { KEY_ENCRYPTION_SECRET: 'x'.repeat(32) }
    await expect(open(other, createMemoryLogger())).rejects.toThrow(/encrypted with another secret/)
  })

  it.each([
    [
      'once',
      {},
      'info',
      'a full key is shown to the caller that creates it, later only to programs on this machine and with OPERATOR_TOKEN; a proxy on this machine must set X-Forwarded-For',
    ],
    [
      'open',
      { REGISTRATION: 'open' },
      'warn',
      'every caller is shown the full keys of any e-mail address: set REGISTRATION=once unless every caller is trusted',
    ],
  ])('say at the start who is shown keys (%s)', async (registration, environment, level, hint) => {
    const logger = createMemoryLogger()
    const core = await open({ KEY_ENCRYPTION_SECRET: secret, ...environment }, logger)
    await core.close()
    expect(logger.lines.filter((line) => line.message.startsWith('registration.'))).toEqual([
      {
        level,
        message: `registration.${registration}`,
        fields: { registration, apiKeyRequired: false, hint },
      },
    ])
  })

  it('say at the start that keys go by mail, where they do', async () => {
    const logger = createMemoryLogger()
    const core = await open(
      {
        KEY_ENCRYPTION_SECRET: secret,
        API_KEY_REQUIRED: 'true',
        REGISTRATION: 'verified',
        SMTP_URL: 'smtp://127.0.0.1:1',
        MAIL_FROM: 'keys@quittance.example',
      },
      logger,
    )
    await core.close()
    expect(logger.lines).toContainEqual({
      level: 'info',
      message: 'registration.verified',
      fields: { registration: 'verified', apiKeyRequired: true, hint: 'keys go by mail' },
    })
  })
})
