import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleResult } from '../../src/protocol/results.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { killInstances, untilKilledHasEnded } from '../support/instances.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import type { RpcProxy } from '../support/rpcProxy.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

interface CrashedPayment {
  readonly method: string
  readonly body: unknown
  readonly payer: string
  readonly amount: bigint
  countReceived(): Promise<bigint>
}

/** Blocks settles at a point, and reports whether one has reached it since the last `hold`. */
interface Hold {
  hold(): void
  isThere(): boolean
}

export const crashPoints = [
  'before anything is recorded',
  'between recording and sending',
  'between sending and the proof',
] as const

type CrashPoint = (typeof crashPoints)[number]

/** A dedicated test chain, and the environment of a service on it. */
export interface CrashHarness {
  readonly environment: Readonly<Record<string, string>>
  readonly holds: Readonly<Partial<Record<CrashPoint, Hold>>>
  /** One by each method of the family. */
  plan(): Promise<readonly CrashedPayment[]>
  /** Ends every hold and resets the counts. */
  release(): void
  close(): Promise<void>
}

/** Blocks a settle at its first call of an RPC method, which the service must not give up: `RPC_TIMEOUT_MS` is long. */
export const holdAt = (proxy: RpcProxy, method: string): Hold => {
  const listParams = () =>
    proxy.calls.filter((call) => call.method === method).map(({ params }) => JSON.stringify(params))
  let before: ReadonlySet<string> = new Set()
  return {
    hold: () => {
      before = new Set(listParams())
      proxy.setFault(method, { kind: 'hang' })
    },
    // A repeated call belongs to a settle that was held earlier.
    isThere: () => listParams().some((params) => !before.has(params)),
  }
}

interface LostPayment extends CrashedPayment {
  readonly point: CrashPoint
  readonly key: string
  readonly answer: Promise<unknown>
}

interface CrashOptions {
  readonly points?: readonly CrashPoint[]
  /** On the embedded database, which ends with the process. Default: on a database server, which outlives it. */
  readonly isEmbedded?: boolean
}

/** Kills a real process while settles are at each point, restarts it on the same data, and retries the requests. */
export const describeCrashes = (
  name: string,
  open: () => Promise<CrashHarness>,
  { points = crashPoints, isEmbedded = false }: CrashOptions = {},
): void => {
  describe(`kill -9 in the middle of a settle on ${name}`, () => {
    let harness: CrashHarness
    let dataFolder: string
    let database: TestDatabase | null = null
    let facilitator: FacilitatorProcess | null = null
    let lost: readonly LostPayment[] = []

    const start = async () => {
      if (facilitator !== null) return facilitator
      const own = { PORT: '0', HOST: '127.0.0.1', DATA_FOLDER: dataFolder }
      const stores =
        database === null
          ? {}
          : { DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret' }
      // No request is answered before the process is killed.
      const waits = { SETTLE_WAIT_SECONDS: '60' }
      facilitator = await startFacilitator(
        { ...harness.environment, ...own, ...stores, ...waits },
        () => undefined,
      )
      return facilitator
    }
    const kill = async (running: FacilitatorProcess) => {
      await running.kill()
      facilitator = null
      if (database === null) return
      await untilKilledHasEnded(database.pool())
      await killInstances(database.pool())
    }
    const settle = (url: string, body: unknown, idempotencyKey: string) =>
      fetch(`${url}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(body),
      })
    /** Sent again while a store is late, another request with the key runs, or the settlement is pending. */
    const settleUntilDecided = async (url: string, body: unknown, idempotencyKey: string) => {
      let seen: unknown
      return await pollUntil(
        async () => {
          const response = await settle(url, body, idempotencyKey)
          seen = await response.json()
          if (response.status !== 200) return null
          const answer = settleResult.parse(seen)
          return answer.errorReason !== 'settlement_pending' && answer
        },
        'the outcome of a settle',
        () => seen,
      )
    }

    /** Leaves a payment of each method at the point. */
    const holdAll = async (url: string, point: CrashPoint) => {
      const payments = await harness.plan()
      const hold = harness.holds[point]
      if (hold === undefined) throw new Error(`The harness has no hold ${point}`)
      const held: LostPayment[] = []
      for (const payment of payments) {
        const key = randomUUID()
        let last: string | null = null
        let isAnswered = false
        const ask = async () => {
          isAnswered = false
          hold.hold()
          last = await settle(url, payment.body, key)
            .then(async (response) => `${response.status} ${await response.text()}`)
            .catch(() => 'no answer')
          isAnswered = true
          return last
        }
        let answer = ask()
        await pollUntil(
          () => {
            if (hold.isThere()) return true
            if (!isAnswered) return false
            if (last?.startsWith('503') !== true) throw new Error(`It ended before the crash point: ${last}`)
            // A store that is late ends a request before it is held; the same request is sent again.
            answer = ask()
            return false
          },
          `the settle ${payment.method} to reach the crash point`,
          () => last,
        )
        held.push({ ...payment, point, key, answer })
      }
      return held
    }

    // One crash at all points: a hold stops a settle before it reaches the holds that were set earlier.
    beforeAll(async () => {
      harness = await open()
      database = isEmbedded ? null : await createTestDatabase()
      dataFolder = await makeTemporaryFolder('crash-', { onDisk: true })
      const running = await start()
      harness.release()
      for (const point of crashPoints.toReversed()) {
        if (points.includes(point)) lost = [...lost, ...(await holdAll(running.url, point))]
      }
      await kill(running)
      const answers = await Promise.all(lost.map(({ answer }) => answer))
      expect(answers).toEqual(lost.map(() => 'no answer'))
      harness.release()
    })
    afterAll(async () => {
      await facilitator?.stop()
      await harness.close()
      await database?.drop()
      await rm(dataFolder, { recursive: true, force: true })
    })

    it.each(points)(
      '%s: a retry with the same Idempotency-Key succeeds, and funds move once',
      async (point) => {
        const payments = lost.filter((payment) => payment.point === point)
        expect(payments).not.toEqual([])
        const restarted = await start()
        const retry = async ({ method, body, key, payer, amount, countReceived }: LostPayment) => {
          const settleAgain = (withKey: string) => settleUntilDecided(restarted.url, body, withKey)
          const result = await settleAgain(key)
          expect(result, method).toMatchObject({ success: true, payer })
          expect(await countReceived(), method).toBe(amount)

          expect(await settleAgain(key), method).toEqual(result)
          expect(await settleAgain(randomUUID()), method).toMatchObject({
            success: false,
            errorReason: 'duplicate_settlement',
            transaction: result.transaction,
          })
          expect(await countReceived(), method).toBe(amount)
        }
        await Promise.all(payments.map(retry))
      },
    )
  })
}
