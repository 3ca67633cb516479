import { type Answer, readClaim } from './answers.js'
import type { Violation } from './audit.js'
import { describeFault, faultKinds } from './faults.js'
import type { RoundResult } from './round.js'
import type { ChaosResult } from './run.js'

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

/** Everything needed to analyze a violation: the schedule, and the history of each affected authorization. */
export const describeViolations = (
  round: RoundResult,
  logLines: (words: readonly string[]) => readonly string[],
) => {
  const { plan, violations, healedAt } = round
  const ids = new Set(violations.map(({ authorizationId }) => authorizationId))
  return [
    `Round ${plan.name} violated ${violations.length} invariants.`,
    ...violations.map(describeViolation),
    '',
    'Faults:',
    ...plan.faults.map((fault) => `  ${describeFault(fault)}`),
    `  all ended at ${clock(healedAt)}`,
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
    `History of ${authorizationId}: ${payment?.name}, ${payment?.behavior}, ${payment?.amount} to ${payment?.recipient}`,
    '  responses, in request order:',
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
      .map(({ transaction, block, nonce }) => `    ${transaction} with nonce ${nonce} in block ${block}`),
    `    ${use === null || use === undefined ? 'not used' : `used by ${use.transaction}, ${use.isPaid ? 'paid' : 'not paid'}`}`,
    '  log lines:',
    ...logLines([authorizationId, ...rows.map(({ id }) => id), ...transactions]).map((line) => `    ${line}`),
  ]
}

/** In request order; repeated identical responses are shown once. */
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

export const describeRun = ({ options, rounds, totals }: ChaosResult): string => {
  const answers = rounds.flatMap((round) => round.answers)
  const settlements = rounds.flatMap(({ books }) => books.settlements)
  const claims = answers.map(readClaim)
  const count = (claim: (typeof claims)[number]) => claims.filter((each) => each === claim).length
  const violations = rounds.flatMap((round) => round.violations)
  const payments = rounds.flatMap((round) => round.payments)
  const facts = rounds.flatMap(({ books }) => [...books.facts])
  const moved = new Set(facts.flatMap(([id, { use }]) => (use?.isPaid === true ? [id] : [])))
  const deposits = payments.filter(({ channel }) => channel !== null)
  const inTime = (name: string, values: readonly number[]) =>
    `${name.padEnd(46)} ${values.length} rows, p50 ${seconds(at(values, 0.5))}, p99 ${seconds(at(values, 0.99))}, max ${seconds(at(values, 1))}`
  return [
    `seed ${options.seed}: ${rounds.length} of ${options.rounds} rounds in ${seconds(totals.elapsedMs)}, ` +
      `${violations.length} violations${totals.hasRedis ? '' : ', WITHOUT REDIS'}`,
    '',
    `${'fault'.padEnd(30)} ${'count'.padStart(5)} ${'slowest row'.padStart(12)} ${'slowest rest'.padStart(13)} transactions dropped`,
    ...faultKinds.map((kind) => {
      const struck = rounds.filter(({ plan }) => plan.faults.some((fault) => fault.kind === kind))
      const times = struck.flatMap(({ plan }) => plan.faults.filter((fault) => fault.kind === kind)).length
      const slowestRow = Math.max(0, ...struck.flatMap(({ closingMs }) => closingMs))
      const taken = struck.flatMap(({ plan, transactionsDropped: each }) =>
        each.filter((_count, index) => plan.faults[index]?.kind === kind),
      )
      const slowestRest = Math.max(0, ...struck.map(({ restMs }) => restMs))
      return `${kind.padEnd(30)} ${String(times).padStart(5)} ${seconds(slowestRow).padStart(12)} ${seconds(slowestRest).padStart(13)} ${String(sum(taken)).padStart(18)}`
    }),
    '',
    `payments ${payments.length}, requests ${answers.length}: ${count('paid')} paid, ${count('failed')} failed, ` +
      `${count('open')} pending or duplicate, ${count('undecided')} undecided or without response`,
    `rows ${settlements.length}: ${settlements.filter(({ state }) => state === 'confirmed').length} confirmed, ` +
      `${settlements.filter(({ state }) => state === 'failed').length} failed`,
    `payments with the API key ${payments.filter(({ hasAccount }) => hasAccount).length}, ` +
      `events received ${totals.eventsReceived}`,
    `deposits into channels ${deposits.length}, ` +
      `mined ${deposits.filter(({ authorizationId }) => moved.has(authorizationId)).length}`,
    `lost ${countRule(violations, 'money moved on chain if and only if a row is confirmed')}, ` +
      `doubled ${countRule(violations, 'one authorization earns one success')}, ` +
      `wrong answers ${countRule(violations, 'no payment that moved funds was reported as failed')}`,
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
    ...describeWarnings(rounds),
    `transactions recorded ${new Set(settlements.flatMap((row) => row.transactions)).size}`,
    ...totals.instances.map(
      ({ name, starts, cpuMs, crashes }) =>
        `instance ${name}: ${starts} starts, ${seconds(cpuMs)} of CPU, ${crashes.length} unexpected exits`,
    ),
    ...totals.instances.flatMap(({ crashes }) => crashes),
  ].join('\n')
}

/** Not violations, but worth attention. */
const describeWarnings = (rounds: readonly RoundResult[]): readonly string[] => {
  const paid = rounds.flatMap(({ payments, answers, books }) =>
    payments
      .filter(({ authorizationId }) => books.facts.get(authorizationId)?.use?.isPaid === true)
      .map((payment) => ({
        ...payment,
        responses: answers.filter(({ authorizationId }) => authorizationId === payment.authorizationId),
        rows: books.settlements.filter((row) => row.authorization_id === payment.authorizationId),
      })),
  )
  const unreported = paid.filter(({ responses }) => !responses.some((answer) => readClaim(answer) === 'paid'))
  // Of two concurrent requests only one records a transaction.
  const sequential = paid.filter(({ behavior }) => !/twins|rivals/i.test(behavior))
  const failedAfterRecording = sequential.flatMap(({ responses, rows }) =>
    responses.filter(
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
    `paid payments without a reported success (response lost, no key): ${unreported.length}`,
    `5xx responses after the transaction was recorded: ${failedAfterRecording.length}`,
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
