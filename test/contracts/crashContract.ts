import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleResult } from '../../src/protocol/results.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { findFreePort } from '../support/freePort.js'
import { pollUntil } from '../support/pollUntil.js'
import type { RpcProxy } from '../support/rpcProxy.js'

export interface CrashedPayment {
  readonly body: unknown
  readonly payer: string
  readonly amount: bigint
  countReceived(): Promise<bigint>
}

/** Blocks a settle at a point, and reports whether it has reached it. */
export interface Hold {
  hold(): void
  isThere(): boolean
}

export const crashPoints = [
  'before anything is recorded',
  'between recording and sending',
  'between sending and the proof',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** A dedicated test chain, and the environment of a service on it. */
export interface CrashHarness {
  readonly environment: Readonly<Record<string, string>>
  readonly holds: Readonly<Partial<Record<CrashPoint, Hold>>>
  plan(): Promise<CrashedPayment>
  /** Ends every hold and resets the counts. */
  release(): void
  close(): Promise<void>
}

/** Blocks a settle at its first call of an RPC method. */
export const holdAt = (proxy: RpcProxy, method: string): Hold => ({
  hold: () => proxy.setFault(method, { kind: 'hang' }),
  isThere: () => proxy.count(method) > 0,
})

/** Kills a real process at each point, restarts it on the same data, and retries the request. */
export const describeCrashes = (
  name: string,
  open: () => Promise<CrashHarness>,
  points: readonly CrashPoint[] = crashPoints,
): void => {
  describe(`kill -9 in the middle of a settle on ${name}`, () => {
    let harness: CrashHarness
    let dataFolder: string
    let facilitator: FacilitatorProcess | null = null

    const start = async () => {
      if (facilitator !== null) return facilitator
      const own = { PORT: String(await findFreePort()), HOST: '127.0.0.1', DATA_FOLDER: dataFolder }
      facilitator = await startFacilitator({ ...harness.environment, ...own }, () => undefined)
      return facilitator
    }
    const settle = async (url: string, body: unknown, idempotencyKey: string) => {
      const response = await fetch(`${url}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(body),
      })
      return { status: response.status, answer: settleResult.parse(await response.json()) }
    }

    beforeAll(async () => {
      harness = await open()
      dataFolder = await mkdtemp(join(tmpdir(), 'quittance-crash-'))
    })
    afterAll(async () => {
      await facilitator?.stop()
      await harness.close()
      await rm(dataFolder, { recursive: true, force: true })
    })

    it.each(points)(
      '%s: a retry with the same Idempotency-Key succeeds, and funds move once',
      async (point) => {
        const running = await start()
        const { body, payer, amount, countReceived } = await harness.plan()
        const key = randomUUID()

        harness.release()
        const hold = harness.holds[point]
        if (hold === undefined) throw new Error(`The harness has no hold ${point}`)
        hold.hold()
        const lost = settle(running.url, body, key).catch(() => 'no answer')
        await pollUntil(hold.isThere, 'the settle to reach the crash point')
        await running.kill()
        facilitator = null
        expect(await lost).toBe('no answer')
        harness.release()

        const restarted = await start()
        const result = await pollUntil(async () => {
          const { status, answer } = await settle(restarted.url, body, key)
          return status === 200 && answer.errorReason !== 'settlement_pending' ? answer : null
        }, 'the outcome of the settle')
        expect(result).toMatchObject({ success: true, payer })
        expect(await countReceived()).toBe(amount)

        const again = await settle(restarted.url, body, key)
        expect(again.answer).toEqual(result)
        const elsewhere = await settle(restarted.url, body, randomUUID())
        expect(elsewhere.answer).toMatchObject({
          success: false,
          errorReason: 'duplicate_settlement',
          transaction: result.transaction,
        })
        expect(await countReceived()).toBe(amount)
      },
      90_000,
    )
  })
}
