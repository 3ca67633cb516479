import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answers.js'
import { type AuditScope, audit, type Books, type Violation } from './audit.js'
import { runClient } from './clients.js'
import { describeFault, type PlannedFault } from './faults.js'
import { countOpen } from './ledger.js'
import { type Payment, type PlannedLoad, prepareLoad } from './payments.js'
import { strike } from './strike.js'
import type { World } from './world.js'

/** What happens in a round, as data. */
export interface PlannedRound {
  readonly name: string
  readonly faults: readonly PlannedFault[]
  readonly load: PlannedLoad
}

/** What came of a round. */
export interface RoundResult {
  readonly plan: PlannedRound
  readonly payments: readonly Payment[]
  readonly answers: readonly Answer[]
  readonly violations: readonly Violation[]
  readonly books: Books
  /** How many transactions each fault took from the pool or off the chain. */
  readonly taken: readonly number[]
  /** When the last fault was over, in Unix milliseconds. */
  readonly healedAt: number
  /** How long after that each row closed that was open then. */
  readonly closingMs: readonly number[]
  /** How long after that books, lanes and clients were all at rest. */
  readonly restMs: number
}

/** How long things may take. */
export interface Patience {
  /** From the end of the faults until all rows are closed and all lanes full. */
  readonly closeMs: number
}

const pollMs = 200
// Longer than everything that is waited for: a suite that hangs says nothing.
const longestMs = 180_000
// The deepest reorganisation, and some.
const blocksBack = 8n

/** Lets clients and faults loose on the world, waits until both are done, and audits. */
export const runRound = async (
  world: World,
  plan: PlannedRound,
  { closeMs }: Patience,
): Promise<RoundResult> => {
  const { number } = await world.chain.control.getHead()
  const payments = await prepareLoad(world, plan.load)
  const answers: Answer[] = []
  const impatience = new AbortController()
  const clients = payments.map(async (payment) => {
    await sleep(payment.startsAtMs)
    await runClient(payment, {
      instances: world.instances,
      onAnswer: (answer) => answers.push(answer),
      patience: impatience.signal,
    })
  })
  const taken = await allInTime(
    plan.faults.map(async (fault) => {
      await sleep(fault.atMs)
      return await strike(world, fault)
    }),
    `to end the faults of ${plan.name}: ${plan.faults.map(describeFault).join('; ')}`,
  )
  // Whoever crashed by itself is started again; that it did is told in the end.
  await allInTime(
    world.instances.map((instance) => instance.revive()),
    `for both instances after ${plan.name}`,
  )
  for (const { nodes } of world.instances) for (const node of nodes) node.clearCalls()

  const healedAt = Date.now()
  const timer = setTimeout(() => impatience.abort(), closeMs)
  await allInTime(clients, `for the clients of ${plan.name}`)
  clearTimeout(timer)
  const scope = { payments, answers, fromBlock: number > blocksBack ? number - blocksBack : 0n }
  const { violations, books } = await auditUntilQuiet(world, scope, healedAt + closeMs)
  return {
    plan,
    payments,
    answers,
    violations,
    books,
    taken,
    healedAt,
    closingMs: books.settlements.flatMap(({ created_at, closed_at }) => {
      const begun = Math.max(healedAt, created_at.getTime())
      return closed_at === null || closed_at.getTime() <= begun ? [] : [closed_at.getTime() - begun]
    }),
    restMs: Date.now() - healedAt,
  }
}

/** Waits for all, also when one fails; the error says what was waited for. */
const allInTime = async <T>(work: readonly Promise<T>[], what: string): Promise<readonly T[]> => {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`Waited ${longestMs / 1_000} s ${what}`)), longestMs).unref()
  })
  await Promise.race([Promise.allSettled(work), late])
  return await Promise.all(work)
}

/** What is open may close and what was recorded may be sent; what is still wrong at the deadline is wrong. */
const auditUntilQuiet = async (
  world: World,
  scope: AuditScope,
  deadline: number,
): ReturnType<typeof audit> => {
  for (;;) {
    const isLast = Date.now() >= deadline
    // Cheap to ask, and without it the rest cannot be at rest.
    if (isLast || (await countOpen(world.pool).catch(() => 1)) === 0) {
      const findings = await audit(world, scope)
      if (isLast || findings.violations.length === 0) return findings
    }
    await sleep(pollMs)
  }
}
