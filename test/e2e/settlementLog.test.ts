import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { composeApp } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { openScene } from '../chains/evm/scene.js'
import { environmentFor } from '../support/core.js'
import { createMemoryLogger } from '../support/memoryLogger.js'
import { pollUntil } from '../support/pollUntil.js'
import { useScene } from '../support/useScene.js'

describe('the log of a settlement', () => {
  const scene = useScene(openScene)

  const open = async (environment: Readonly<Record<string, string>> = {}) => {
    const logger = createMemoryLogger()
    const { lines } = logger
    const service = await scene.open({ environment, logger })
    const app = await composeApp(
      readConfig(environmentFor({ databaseUrl: scene.database.url })),
      service.core,
      logger,
    )
    /** Fields of the lines that name the settlement, by their events. */
    const linesOf = (settlementId: string) =>
      lines.flatMap(({ message, fields }) =>
        fields.settlementId === settlementId ? [{ event: message, fields }] : [],
      )
    return { ...service, app, lines, linesOf }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  const register = async ({ app }: Opened) => {
    const projectName = crypto.randomUUID()
    const payload = { email: `${projectName}@example.com`, projectName }
    const answer = await app.inject({ method: 'POST', url: '/register', payload })
    const { apiKey } = z.object({ apiKey: z.string() }).parse(answer.json())
    const { rows } = await scene.database
      .pool()
      .query('select id from accounts where project = $1', [projectName])
    return { apiKey, account: z.object({ id: z.string() }).parse(rows[0]).id }
  }

  const settle = async ({ app }: Opened, apiKey: string) => {
    const { body } = await scene.plan()
    const answer = await app.inject({
      method: 'POST',
      url: '/settle',
      payload: body,
      headers: { 'x-api-key': apiKey, 'x-request-id': 'order-7' },
    })
    const { settlementId } = z.looseObject({ settlementId: z.string() }).parse(answer.json())
    return settlementId
  }

  it('names the account and the request in each line that a request writes, and never the key', async () => {
    const service = await open()
    const { apiKey, account } = await register(service)
    const settlementId = await settle(service, apiKey)
    const lines = service.linesOf(settlementId)
    expect(lines.map(({ event }) => event)).toEqual([
      'settlement.opened',
      'settlement.broadcast',
      'settlement.confirmed',
    ])
    for (const { fields } of lines) expect(fields).toMatchObject({ account, requestId: 'order-7' })
    const completed = service.lines.filter(({ fields }) => fields.requestId === 'order-7').at(-1)
    expect(completed?.message).toBe('request.completed')
    expect(JSON.stringify(service.lines)).not.toContain(apiKey)
  })

  it('names the account also where another instance finds the outcome, and after a reorg', async () => {
    const first = await open({ SETTLE_WAIT_SECONDS: '1' })
    const { apiKey, account } = await register(first)
    await scene.chain.control.setAutomine(false)
    const settlementId = await settle(first, apiKey)
    expect(first.linesOf(settlementId).map(({ event }) => event)).toEqual([
      'settlement.opened',
      'settlement.broadcast',
      'settlement.pending',
    ])
    await scene.chain.control.setAutomine(true)
    const second = await open()
    await scene.chain.control.mine()
    await pollUntil(async () => {
      await second.reconcile()
      return second.linesOf(settlementId).length > 0
    }, 'the outcome')
    await scene.chain.control.reorg(2)
    await scene.chain.control.mine()
    await pollUntil(async () => {
      await second.core.detectReorgs()
      return second.linesOf(settlementId).length > 1
    }, 'the reorg')
    const lines = second.linesOf(settlementId)
    expect(lines.map(({ event }) => event)).toEqual(['settlement.confirmed', 'settlement.reorged'])
    for (const { fields } of [...first.linesOf(settlementId), ...lines])
      expect(fields).toMatchObject({ account })
  })
})
