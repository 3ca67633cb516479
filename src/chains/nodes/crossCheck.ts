import type { BlockStatus } from '../../schemes/network.js'
import type { Endpoint } from './endpoint.js'

/**
 * What one endpoint reports about an outcome. `unknown`: healthy, but without the evidence or without an answer in time.
 * `unreachable`: cannot be asked, and is not counted as healthy.
 */
export type Vote = 'confirms' | 'contradicts' | 'unknown' | 'unreachable'

type Addressed = Pick<Endpoint, 'host'>

export interface Ballot {
  readonly host: string
  readonly vote: Vote
}

interface CrossCheck {
  readonly ballots: readonly Ballot[]
  /** All of the network, whether healthy or not. */
  readonly endpoints: readonly Addressed[]
  readonly outcome: 'success' | 'failure'
}

const minHosts = 2

/** With one host there is no second source to ask: two URLs of one host are one node. */
export const canCrossCheck = (endpoints: readonly Addressed[]): boolean =>
  new Set(endpoints.map(({ host }) => nameSource(host))).size >= minHosts

/**
 * The rule from the cross-check amount on: two hosts must confirm, and a success needs that no other host contradicts, a
 * failure that every healthy one confirms. What is configured counts, not what is healthy: an outage must not leave one
 * host as the only evidence. With one configured host its own evidence suffices.
 */
export const passesCrossCheck = ({ ballots, endpoints, outcome }: CrossCheck): boolean => {
  if (!canCrossCheck(endpoints)) return true
  const votes = countByHost(ballots)
  if (votes.filter((vote) => vote === 'confirms').length < minHosts) return false
  switch (outcome) {
    case 'success':
      return !votes.includes('contradicts')
    case 'failure':
      return votes.every((vote) => vote === 'confirms' || vote === 'unreachable')
  }
}

/** Asks each endpoint; one that fails to answer votes `unreachable` unless `ask` decides otherwise. */
export const collectBallots = <Witness extends Addressed>(
  witnesses: readonly Witness[],
  ask: (witness: Witness) => Promise<Vote>,
): Promise<readonly Ballot[]> =>
  Promise.all(
    witnesses.map(async (witness) => ({
      host: witness.host,
      vote: await ask(witness).catch((): Vote => 'unreachable'),
    })),
  )

// What counts of the different answers of one host, strongest first.
const precedence: readonly Vote[] = ['contradicts', 'confirms', 'unknown', 'unreachable']

const countByHost = (ballots: readonly Ballot[]): readonly Vote[] => {
  const byHost = new Map<string, Vote>()
  for (const { host, vote } of ballots) {
    const source = nameSource(host)
    const before = byHost.get(source) ?? vote
    byHost.set(source, precedence.indexOf(vote) < precedence.indexOf(before) ? vote : before)
  }
  return [...byHost.values()]
}

const loopback = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/

/** The name without the port: ports of one machine are one node, except on this machine, where developers run several. */
const nameSource = (host: string): string => {
  const [, name = host, port = ''] = /^(.*?)\.?(:[0-9]+)?$/.exec(host.toLowerCase()) ?? []
  return loopback.test(name) ? `loopback${port}` : name
}

/**
 * Whether a block is still canonical. Each endpoint must judge by its own head, since heads of different
 * endpoints are not comparable. One endpoint suffices for `canonical` or `final`; `orphaned` requires that no
 * other contradicts.
 */
export const agreeOnBlock = async (
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<BlockStatus>,
): Promise<BlockStatus> => {
  let isOrphaned = false
  for (const endpoint of endpoints) {
    const status = await ask(endpoint).catch((): BlockStatus => 'unknown')
    if (status === 'orphaned') isOrphaned = true
    else if (status !== 'unknown') return isOrphaned ? 'unknown' : status
  }
  return isOrphaned ? 'orphaned' : 'unknown'
}
