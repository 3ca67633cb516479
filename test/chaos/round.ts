import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answers.js'
import { type AuditRecords, type AuditScope, audit, type Violation } from './audit.js'
import { collect, collectUntil } from './channels.js'
import { runClient } from './clients.js'
import { describeFault, type PlannedFault } from './faults.js'
import { injectFault } from './injectFault.js'
import { countOpen } from './ledger.js'
import { type Payment, type PlannedLoad, prepareLoad } from './payments.js'
import type { World } from './world.js'

export interface PlannedRound {
  readonly name: string
  readonly faults: readonly PlannedFault[]
  readonly load: PlannedLoad
}

export interface RoundResult {
  readonly plan: PlannedRound
  readonly payments: readonly Payment[]
  readonly answers: readonly Answer[]
  readonly violations: readonly Violation[]
  readonly books: AuditRecords
  /** Per fault: transactions dropped from the mempool or reorged. */
  readonly transactionsDropped: readonly number[]
  readonly healedAt: number
  /** Time from then until each open row closed. */
  readonly closingMs: readonly number[]
  /** Time from then until the audit passed and all clients finished. */
  readonly restMs: number
}

interface RoundLimits {
  readonly closeMs: number
  /** In blocks. */
  readonly deepestReorg: number
}

const pollMs = 200
// Longer than any expected wait, and than clients retry, so that hangs are reported.
const longestMs = 300_000
// Blocks below those that a reorg at the start of a round can replace.
const blocksBelow = 5

/** Runs clients and faults concurrently, waits for both, and audits. */
export const runRound = async (
  world: World,
  plan: PlannedRound,
  { closeMs, deepestReorg }: RoundLimits,
): Promise<RoundResult> => {
  const { number } = await world.chain.control.getHead()
  const payments = await prepareLoad(world, plan.load, deepestReorg)
  const answers: Answer[] = []
  const stopRetrying = new AbortController()
  const clients = payments.map(async (payment) => {
    await sleep(payment.startsAtMs)
    await runClient(payment, {
      instances: world.instances,
      account: world.account,
      onAnswer: (answer) => answers.push(answer),
      stopRetrying: stopRetrying.signal,
    })
  })
  const stopCollecting = new AbortController()
  const collecting = collectUntil(world, payments, stopCollecting.signal)
  const transactionsDropped = await waitForAll(
    plan.faults.map(async (fault) => {
      await sleep(fault.atMs)
      return await injectFault(world, fault)
    }),
    `for the faults of ${plan.name} to end: ${plan.faults.map(describeFault).join('; ')}`,
  )
  // Restart crashed instances; crashes are reported at the end.
  await waitForAll(
    world.instances.map((instance) => instance.ensureRunning()),
    `for both instances after ${plan.name}`,
  )
  for (const { nodes } of world.instances) for (const node of nodes) node.clearCalls()

  const healedAt = Date.now()
  const timer = setTimeout(() => stopRetrying.abort(), closeMs)
  await waitForAll(clients, `for the clients of ${plan.name}`)
  clearTimeout(timer)
  stopCollecting.abort()
  await waitForAll([collecting], `for the claims of ${plan.name}`)
  const fromBlock = Math.max(0, Number(number) - deepestReorg - blocksBelow)
  const scope = { payments, answers, fromBlock: BigInt(fromBlock) }
  const { violations, books } = await auditUntilClean(world, scope, healedAt + closeMs)
  return {
    plan,
    payments,
    answers,
    violations,
    books,
    transactionsDropped,
    healedAt,
    closingMs: books.settlements.flatMap(({ created_at, closed_at }) => {
      const begun = Math.max(healedAt, created_at.getTime())
      return closed_at === null || closed_at.getTime() <= begun ? [] : [closed_at.getTime() - begun]
    }),
    restMs: Date.now() - healedAt,
  }
}

/** Waits for all, even if one fails; at the deadline the error contains `what`. */
const waitForAll = async <T>(work: readonly Promise<T>[], what: string): Promise<readonly T[]> => {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`Waited ${longestMs / 1_000} s ${what}`)), longestMs).unref()
  })
  await Promise.race([Promise.allSettled(work), late])
  return await Promise.all(work)
}

/** Audits until there are no violations; those at the deadline are returned. */
export const auditUntilClean = async (
  world: World,
  scope: AuditScope,
  deadline: number,
): ReturnType<typeof audit> => {
  for (;;) {
    const isLast = Date.now() >= deadline
    if (isLast || (await countOpen(world.pool).catch(() => 1)) === 0) {
      await collect(world, scope.payments).catch(() => undefined)
      // A busy machine may answer late.
      const findings = await audit(world, scope).catch((error: unknown) => {
        if (isLast) throw error
        return null
      })
      if (findings !== null && (isLast || findings.violations.length === 0)) return findings
    }
    await sleep(pollMs)
  }
}
