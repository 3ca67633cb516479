import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { FindPause, Pause, PauseStore, PauseTarget } from '../../ports/operatorPauses.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { PauseTargetRequest, PauseView } from '../../protocol/operator.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { normalizeWith } from '../../schemes/spelling.js'
import type { OperatorUseCases } from './useCases.js'

interface PausesDependencies {
  readonly store: PauseStore
  readonly registry: SchemeRegistry
  readonly accounts: Pick<AccountStore, 'find'>
  readonly gauge: { setPauses(count: number): void }
  readonly logger: Logger
}

interface Pauses extends Pick<OperatorUseCases, 'listPauses' | 'setPause' | 'clearPause'> {
  readonly find: FindPause
  listKnown(): readonly Pause[]
  /** Reads what other instances have set. Until it succeeds, what was read last counts. */
  readonly refresh: () => Promise<void>
  /** Reads it where it was not read for two seconds. */
  readonly refreshStale: Job['run']
}

// The store reads pauses every two seconds: longer than that, with some delay, it has missed one.
const maxAgeMs = 2_200

/** The table is read as a whole, every two seconds. */
const maxPauses = 1_000

/**
 * What is paused is kept in memory, so that a payment asks no store and a database that stalls ends no pause. An instance
 * that set or cleared a pause knows it when it answers; the others within two or three seconds.
 */
export const createPauses = ({ store, registry, accounts, gauge, logger }: PausesDependencies): Pauses => {
  const networks = new Map(registry.list().map(({ kind, network }) => [kind.network, network]))
  let known: readonly Pause[] = []
  let byKey: ReadonlyMap<string, Pause> = new Map()
  let hasRecipients = false
  /** `performance.now()` before they were read or changed. */
  let knownSince = Number.NEGATIVE_INFINITY

  const apply = (pauses: readonly Pause[]): void => {
    known = pauses
    gauge.setPauses(pauses.length)
    byKey = new Map(pauses.map((pause) => [keyOf(pause.target), pause]))
    hasRecipients = pauses.some(({ target }) => target.kind === 'recipient')
  }

  /** An answer that is older than what is known must not undo it. */
  const applyRead = (pauses: readonly Pause[], sentAt: number): void => {
    if (sentAt < knownSince) return
    knownSince = sentAt
    apply(pauses)
  }
  store.watch(applyRead)

  const refresh = async (): Promise<void> => {
    const sentAt = performance.now()
    applyRead(await store.list(), sentAt)
  }

  const spell = (name: string, payTo: string): string | null => {
    const network = networks.get(name)
    return network === undefined ? null : normalizeWith(network, payTo)
  }

  const find: FindPause = ({ network, scheme, payTo, caller }) => {
    if (byKey.size === 0) return null
    const recipient = hasRecipients && payTo !== undefined ? spell(network, payTo) : null
    const targets: readonly PauseTarget[] = [
      { kind: 'network', network },
      { kind: 'scheme', network, scheme },
      ...(recipient === null ? [] : [{ kind: 'recipient', network, payTo: recipient } as const]),
      ...(caller === undefined ? [] : [{ kind: 'account', accountId: caller } as const]),
    ]
    const covering = targets.map((target) => byKey.get(keyOf(target))).filter((pause) => pause !== undefined)
    // Transfers that clients made before it are settled: a later pause must not hide an earlier one.
    return covering.toSorted((left, right) => left.since.getTime() - right.since.getTime())[0] ?? null
  }

  /** As it is stored. What the instance does not have any longer can still be cleared. */
  const readTarget = (given: PauseTargetRequest): PauseTarget => {
    switch (given.kind) {
      case 'account':
        return given
      case 'network':
        return { ...given, network: canonicalNetwork(given.network) }
      case 'scheme':
        return { ...given, network: canonicalNetwork(given.network) }
      case 'recipient': {
        const network = canonicalNetwork(given.network)
        return { ...given, network, payTo: spell(network, given.payTo) ?? given.payTo }
      }
    }
  }

  const check = async (target: PauseTarget): Promise<void> => {
    if (target.kind === 'account') {
      if ((await accounts.find(target.accountId)) !== null) return
      throw new AppError('NOT_FOUND', 'target.accountId: there is no account with this id')
    }
    const network = networks.get(target.network)
    if (network === undefined) {
      throw new AppError('INVALID_REQUEST', 'target.network: this instance does not have the network')
    }
    if (target.kind === 'scheme' && registry.find(target.scheme, target.network) === null) {
      throw new AppError('INVALID_REQUEST', 'target.scheme: the network does not have the scheme')
    }
    if (target.kind === 'recipient' && !network.isAddress(target.payTo)) {
      throw new AppError('INVALID_REQUEST', 'target.payTo: must be an address of the network')
    }
  }

  /** The change is committed: if it cannot be read back, this instance applies it to what it knew. */
  const refreshAfterChange = async (target: PauseTarget, pause: Pause | null): Promise<void> => {
    try {
      await refresh()
    } catch (error) {
      logger.warn({ error }, 'pauses.read_failed')
      knownSince = performance.now()
      const others = known.filter((each) => keyOf(each.target) !== keyOf(target))
      apply(pause === null ? others : [...others, pause])
    }
  }

  return {
    find,
    listKnown: () => known,
    refresh,
    refreshStale: async () => {
      if (performance.now() - knownSince > maxAgeMs && !store.isResting()) await refresh()
    },
    listPauses: async () => {
      await refresh()
      return { pauses: known.map(viewPause) }
    },
    setPause: async ({ target: given, reason, by = null }, address) => {
      const target = readTarget(given)
      await check(target)
      const result = await store.set({ target, reason, by }, { address, maxPauses })
      if (result.state === 'full') {
        throw new AppError('INVALID_REQUEST', `There are ${maxPauses} pauses: clear one`)
      }
      await refreshAfterChange(target, result.pause)
      const changed = result.state === 'set'
      if (changed) logger.warn({ target, reason, by, address }, 'pauses.set')
      return { pause: viewPause(result.pause), changed }
    },
    clearPause: async (given, { by = null, address }) => {
      const target = readTarget(given)
      const cleared = await store.clear(target, { name: by, address })
      await refreshAfterChange(target, null)
      if (cleared) logger.warn({ target, by, address }, 'pauses.cleared')
      return { cleared, pauses: known.map(viewPause) }
    },
  }
}

const keyOf = (target: PauseTarget): string => {
  switch (target.kind) {
    case 'network':
      return `network ${target.network}`
    case 'scheme':
      return `scheme ${target.network} ${target.scheme}`
    case 'recipient':
      return `recipient ${target.network} ${target.payTo}`
    case 'account':
      return `account ${target.accountId}`
  }
}

const viewPause = ({ target, reason, by, since }: Pause): PauseView => ({
  target,
  reason,
  by,
  since: since.toISOString(),
})
