import type { components } from '../../../sdk/src/schema.js'
import { formatCount, formatSeconds } from '../format.js'

type Overview = components['schemas']['OperatorOverview']
type NameOf = (network: string) => string
type Instance = Overview['instance']
type Network = Instance['networks'][number]

export interface Matter {
  readonly tone: 'bad' | 'warn'
  readonly title: string
  /** Empty: the title says all. */
  readonly detail: string
}

const longOpenSeconds = 120
const longWebhookSeconds = 300
const fewDays = 3

/** What an operator should look at first: what stops payments before what may. */
export const listMatters = (overview: Overview, nameOf: NameOf): readonly Matter[] => {
  const { instance, shared, unread } = overview
  const matters = [
    ...listDatabase(shared),
    ...instance.networks.flatMap((network) => listNetwork(network, nameOf(network.network))),
    ...listOpen(shared, nameOf),
    ...listUnread(unread),
    ...listWebhooks(shared),
    ...listInstance(instance),
    ...listReconciliation(shared),
  ]
  return [...matters.filter(({ tone }) => tone === 'bad'), ...matters.filter(({ tone }) => tone === 'warn')]
}

const bad = (title: string, detail = ''): Matter => ({ tone: 'bad', title, detail })
const warn = (title: string, detail = ''): Matter => ({ tone: 'warn', title, detail })

const listDatabase = ({ database }: Overview['shared']): readonly Matter[] => {
  if (database === 'ok') return []
  return [
    database === 'read_only'
      ? bad('The database is read-only', 'No payment can be claimed.')
      : bad('The database does not answer'),
  ]
}

const listNetwork = (network: Network, name: string): readonly Matter[] => {
  const matters: Matter[] = []
  if (!network.isServing) matters.push(bad(`${name} does not serve`, network.problem ?? ''))
  for (const { scheme, reason } of network.paused) {
    matters.push(warn(`${scheme ?? 'All'} on ${name} is paused`, reason))
  }
  if (network.reorgs.lost > 0) {
    matters.push(
      bad(
        `${formatCount(network.reorgs.lost)} lost on ${name}`,
        'Reported as success, then failed by a reorg.',
      ),
    )
  }
  if (network.balanceLevel === 'empty') matters.push(bad(`A signer of ${name} is empty`))
  else if (network.balanceLevel === 'low') matters.push(warn(`A signer of ${name} is low`))
  else {
    const days = network.signers.flatMap(({ daysLeft }) => (daysLeft === null ? [] : [daysLeft]))
    const least = Math.min(...days)
    if (least < fewDays) matters.push(warn(`A signer of ${name} has ${least.toFixed(1)} days left`))
  }
  if (network.stuckLanes.length > 0) {
    matters.push(bad(`A lane of ${name} is stuck`, network.stuckLanes.join(', ')))
  }
  for (const { host, isUp, wrongChain, lastFailure } of network.endpoints) {
    if (wrongChain !== null) matters.push(bad(`${host} serves another chain`, `${wrongChain}, for ${name}.`))
    else if (!isUp) matters.push(warn(`${host} is down`, lastFailure?.message ?? `An endpoint of ${name}.`))
  }
  return matters
}

const listOpen = ({ openSettlements, lastDay }: Overview['shared'], nameOf: NameOf): readonly Matter[] => {
  const late = (openSettlements ?? []).filter(({ oldestSeconds }) => oldestSeconds > longOpenSeconds)
  const lost = (lastDay ?? []).filter((each) => each.lost > 0)
  return [
    ...lost.map((each) =>
      bad(
        `${formatCount(each.lost)} lost on ${nameOf(each.network)} in 24 hours`,
        'They failed after success was answered.',
      ),
    ),
    ...late.map(({ network, state, count, oldestSeconds }) =>
      warn(
        `The oldest ${state} settlement on ${nameOf(network)} is ${formatSeconds(oldestSeconds)} old`,
        `${formatCount(count)} are open.`,
      ),
    ),
  ]
}

const listUnread = (unread: Overview['unread']): readonly Matter[] =>
  unread
    .filter(({ part }) => part !== 'database')
    .map(({ part, reason }) => warn(`“${part}” could not be read`, reason))

const listWebhooks = ({ webhooks }: Overview['shared']): readonly Matter[] => {
  const oldest = webhooks?.oldestSeconds ?? 0
  if (webhooks === null || oldest < longWebhookSeconds) return []
  const amount = `${webhooks.isCountLimited ? 'More than ' : ''}${formatCount(webhooks.waiting)}`
  return [warn(`Webhooks wait for up to ${formatSeconds(oldest)}`, `${amount} deliveries wait.`)]
}

const listInstance = ({ limiter, pools, jobs }: Instance): readonly Matter[] => [
  ...(limiter.isDegraded
    ? [warn('The limiter is degraded', 'Redis is down: each instance counts its share itself.')]
    : []),
  ...pools
    .filter(({ waiting }) => waiting > 0)
    .map(({ name, waiting }) => warn(`${formatCount(waiting)} wait for a connection`, `Pool: ${name}.`)),
  ...jobs
    .filter(({ failures }) => failures > 0)
    .map(({ name, failures }) =>
      warn(`The job ${name} fails`, `${formatCount(failures)} since it succeeded.`),
    ),
]

const listReconciliation = ({ reconciliation }: Overview['shared']): readonly Matter[] => {
  const last = reconciliation?.last ?? null
  if (last === null || last.differences === 0) return []
  const kinds = last.counts.map(({ kind, count }) => `${kind.replaceAll('_', ' ')}: ${count}`).join(', ')
  return [bad(`The reconciliation of ${last.day} found ${formatCount(last.differences)} differences`, kinds)]
}
