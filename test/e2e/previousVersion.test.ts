import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { migrate } from '../../src/stores/postgres/database/migrate.js'
import { migrationsFolder } from '../../src/stores/stores.js'
import { environmentFor } from '../support/core.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { useTestDatabase } from '../support/postgres.js'
import { unpackPreviousVersion } from '../support/previousVersion.js'
import { startService } from '../support/service.js'

const amount = 10_000n
const settled = z.looseObject({ success: z.boolean(), settlementId: z.string(), transaction: z.string() })

const previous = await unpackPreviousVersion()

describe.skipIf(previous === null)(
  'the version before this one, on a database that this one migrates',
  () => {
    const { url, pool } = useTestDatabase()
    let chain: LocalChain
    let old: FacilitatorProcess

    const startOld = (): Promise<FacilitatorProcess> =>
      startFacilitator(
        { ...environmentFor({ chain, databaseUrl: url }), HOST: '127.0.0.1' },
        () => undefined,
        {
          ...(previous === null ? {} : { program: previous.program }),
        },
      )

    beforeAll(async () => {
      chain = await startLocalChain({ facilitatorCount: 1 })
      await pool.query('drop schema public cascade; create schema public')
      old = await startOld()
    })
    afterAll(async () => {
      await old.stop()
      await chain.stop()
    })

    const settle = async ({ url: service }: { readonly url: string }) => {
      const wallet = createEoa()
      await chain.mint(wallet.address, amount)
      const payTo = randomAddress()
      const response = await fetch(`${service}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: JSON.stringify(await exactPayment({ chain, wallet, payTo, amount })),
      })
      expect(response.status).toBe(200)
      const answer = settled.parse(await response.json())
      expect(answer).toMatchObject({ success: true })
      expect(await chain.balanceOf(payTo)).toBe(amount)
      return answer.settlementId
    }
    const find = async ({ url: service }: { readonly url: string }, id: string): Promise<unknown> =>
      await (await fetch(`${service}/v1/settlements/${id}`)).json()

    it('settles before, after and beside the new version, and each shows what the other settled', async () => {
      const before = await settle(old)

      const { applied } = await migrate(pool, migrationsFolder, { giveUpAfterMs: 0 })

      expect(applied.length).toBeGreaterThan(0)
      const after = await settle(old)
      const current = await startService({ chain, databaseUrl: url })
      try {
        const beside = await settle(current)
        for (const id of [before, after])
          expect(await find(current, id)).toMatchObject({ status: 'confirmed' })
        expect(await find(old, beside)).toMatchObject({ status: 'confirmed' })
        await settle(old)
      } finally {
        await current.close()
      }
    })

    it('starts again on the new schema, or says why it does not', async () => {
      await old.kill()
      if (previous?.startsOnLaterSchema === true) {
        old = await startOld()
        await settle(old)
      } else {
        await expect(startOld()).rejects.toThrow(/which this version does not know/)
      }
    })
  },
)
