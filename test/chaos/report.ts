import { type Answer, readClaim } from './answers.js'
import type { Violation } from './audit.js'
import { describeFault, faultKinds } from './faults.js'
import type { RoundResult } from './round.js'
import type { ChaosResult } from './run.js'

/** One line about a round. */
export const describeRound = ({
  plan,
  payments,
  books,
  restMs,
  closingMs,
  violations,
}: RoundResult): string => {
  const confirmed = books.settlements.filter(({ state }) => state === 'confirmed').length
  return [
    plan.name.padEnd(5),
    violations.length === 0 ? 'ok    ' : 'BROKEN',
    `${payments.length} payments, ${confirmed} confirmed,`,
    `slowest row ${seconds(Math.max(0, ...closingMs))}, at rest ${seconds(restMs)} after the last fault:`,
    plan.faults.map(({ kind }) => kind).join(' + '),
  ].join(' ')
}

const shownHistories = 5

/** What an engineer needs to understand a broken promise: the schedule, and the whole history of what it is about. */
export const describeViolations = (
  round: RoundResult,
  logLines: (words: readonly string[]) => readonly string[],
) => {
  const { plan, violations, healedAt } = round
  const ids = new Set(violations.map(({ authorizationId }) => authorizationId))
  return [
    `Round ${plan.name} broke ${violations.length} promises.`,
    ...violations.map(describeViolation),
    '',
    'Its faults:',
    ...plan.faults.map((fault) => `  ${describeFault(fault)}`),
    `  all over at ${clock(healedAt)}`,
    ...[...ids]
      .slice(0, shownHistories)
      .flatMap((id) => (id === null ? [] : ['', ...describeHistory(round, id, logLines)])),
  ].join('\n')
}

const describeViolation = ({ rule, what, authorizationId }: Violation): string =>
  `  ${rule}: ${what}${authorizationId === null ? '' : ` (${authorizationId})`}`

const describeHistory = (
  { payments, answers, books }: RoundResult,
  authorizationId: string,
  logLines: (words: readonly string[]) => readonly string[],
): readonly string[] => {
  const payment = payments.find((each) => each.authorizationId === authorizationId)
  const rows = books.settlements.filter((row) => row.authorization_id === authorizationId)
  const transactions = rows.flatMap((row) => row.transactions)
  const use = books.facts.get(authorizationId)?.use
  return [
    `The history of ${authorizationId}: ${payment?.name}, ${payment?.habit}, ${payment?.amount} to ${payment?.recipient}`,
    '  answers, in the order of their requests:',
    ...describeAnswers(answers.filter((answer) => answer.authorizationId === authorizationId)),
    '  rows:',
    ...rows.map(
      (row) =>
        `    ${JSON.stringify(row, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
    ),
    '  broadcasts:',
    ...books.broadcasts
      .filter(({ transaction }) => transactions.includes(transaction))
      .map((row) => `    ${JSON.stringify(row)}`),
    '  on chain:',
    ...books.mined
      .filter(({ transaction }) => transactions.includes(transaction))
      .map(({ transaction, block, nonce }) => `    ${transaction} with number ${nonce} in block ${block}`),
    `    ${use === null || use === undefined ? 'not used' : `used by ${use.transaction}, ${use.isPaid ? 'paid' : 'not paid'}`}`,
    '  log lines that name it:',
    ...logLines([authorizationId, ...rows.map(({ id }) => id), ...transactions]).map((line) => `    ${line}`),
  ]
}

/** In the order of the requests; what a patient client hears again and again is said once. */
const describeAnswers = (answers: readonly Answer[]): readonly string[] => {
  const inOrder = [...answers].sort((left, right) => left.sentAt - right.sentAt)
  const isRepeated = (answer: Answer, index: number) =>
    [inOrder[index - 1], inOrder[index + 1]].every(
      (near) => near?.text === answer.text && near.consumer === answer.consumer,
    )
  return inOrder.flatMap((answer, index) => {
    if (isRepeated(answer, index)) return isRepeated(answer, index - 1) ? [] : ['    … the same …']
    const { sentAt, receivedAt, instance, consumer, status, text } = answer
    const when = `${clock(sentAt)} to ${clock(receivedAt)}`
    return [`    ${when} ${instance} ${consumer}: ${readClaim(answer)}: ${status ?? ''} ${text}`]
  })
}

/** The summary and the profile of a run. */
export const describeRun = ({ options, rounds, totals }: ChaosResult): string => {
  const answers = rounds.flatMap((round) => round.answers)
  const settlements = rounds.flatMap(({ books }) => books.settlements)
  const claims = answers.map(readClaim)
  const count = (claim: (typeof claims)[number]) => claims.filter((each) => each === claim).length
  const violations = rounds.flatMap((round) => round.violations)
  const payments = rounds.flatMap((round) => round.payments)
  const inTime = (name: string, values: readonly number[]) =>
    `${name.padEnd(46)} ${values.length} rows, p50 ${seconds(at(values, 0.5))}, p99 ${seconds(at(values, 0.99))}, max ${seconds(at(values, 1))}`
  return [
    `seed ${options.seed}: ${rounds.length} of ${options.rounds} rounds in ${seconds(totals.elapsedMs)}, ` +
      `${violations.length} broken promises${totals.hasRedis ? '' : ', WITHOUT REDIS'}`,
    '',
    `${'fault'.padEnd(30)} ${'count'.padStart(5)} ${'slowest row'.padStart(12)} ${'slowest rest'.padStart(13)} transactions taken`,
    ...faultKinds.map((kind) => {
      const struck = rounds.filter(({ plan }) => plan.faults.some((fault) => fault.kind === kind))
      const times = struck.flatMap(({ plan }) => plan.faults.filter((fault) => fault.kind === kind)).length
      const slowestRow = Math.max(0, ...struck.flatMap(({ closingMs }) => closingMs))
      const taken = struck.flatMap(({ plan, taken: each }) =>
        each.filter((_count, index) => plan.faults[index]?.kind === kind),
      )
      const slowestRest = Math.max(0, ...struck.map(({ restMs }) => restMs))
      return `${kind.padEnd(30)} ${String(times).padStart(5)} ${seconds(slowestRow).padStart(12)} ${seconds(slowestRest).padStart(13)} ${String(sum(taken)).padStart(18)}`
    }),
    '',
    `payments ${payments.length}, requests ${answers.length}: ${count('paid')} paid, ${count('failed')} failed, ` +
      `${count('open')} pending or duplicate, ${count('undecided')} undecided or unanswered`,
    `rows ${settlements.length}: ${settlements.filter(({ state }) => state === 'confirmed').length} confirmed, ` +
      `${settlements.filter(({ state }) => state === 'failed').length} failed`,
    `lost ${countRule(violations, 'money moved on chain if and only if a row is confirmed')}, ` +
      `doubled ${countRule(violations, 'one authorization earns one success')}, ` +
      `wrong answers ${countRule(violations, 'nothing that moved money was answered failed')}`,
    inTime(
      'closed after the last fault:',
      rounds.flatMap(({ closingMs }) => closingMs),
    ),
    inTime(
      'closed after it was opened:',
      settlements.flatMap(({ created_at, closed_at }) =>
        closed_at === null ? [] : [closed_at.getTime() - created_at.getTime()],
      ),
    ),
    ...describeDoubts(rounds),
    `transactions recorded ${new Set(settlements.flatMap((row) => row.transactions)).size}`,
    ...totals.instances.map(
      ({ name, starts, cpuMs, crashes }) =>
        `instance ${name}: ${starts} starts, ${seconds(cpuMs)} of CPU, ${crashes.length} crashes by itself`,
    ),
    ...totals.instances.flatMap(({ crashes }) => crashes),
  ].join('\n')
}

/** No promise, but worth a look. */
const describeDoubts = (rounds: readonly RoundResult[]): readonly string[] => {
  const paid = rounds.flatMap(({ payments, answers, books }) =>
    payments
      .filter(({ authorizationId }) => books.facts.get(authorizationId)?.use?.isPaid === true)
      .map((payment) => ({
        ...payment,
        told: answers.filter(({ authorizationId }) => authorizationId === payment.authorizationId),
        rows: books.settlements.filter((row) => row.authorization_id === payment.authorizationId),
      })),
  )
  const untold = paid.filter(({ told }) => !told.some((answer) => readClaim(answer) === 'paid'))
  // Of two askers at once only one records, so the other's answer says nothing.
  const alone = paid.filter(({ habit }) => !/twins|rivals/i.test(habit))
  const shrugged = alone.flatMap(({ told, rows }) =>
    told.filter(
      ({ status, sentAt, receivedAt }) =>
        status !== null &&
        status >= 500 &&
        rows.some(
          ({ recorded_at }) =>
            recorded_at !== null && recorded_at.getTime() > sentAt && recorded_at.getTime() < receivedAt,
        ),
    ),
  )
  return [
    `paid payments of which no consumer heard (answers lost, no key): ${untold.length}`,
    `requests answered 5xx although their bytes were recorded: ${shrugged.length}`,
  ]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const countRule = (violations: readonly Violation[], rule: string): number =>
  violations.filter((violation) => violation.rule === rule).length

const at = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`

const clock = (unixMs: number): string => new Date(unixMs).toISOString().slice(11, 23)
