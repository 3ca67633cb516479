import type { Schemas } from '../api.js'
import { nameOf } from '../networks.js'

export type PauseTarget = Schemas['Pause']['target']
export type PauseKind = PauseTarget['kind']

/** What was typed, of all kinds. */
export interface TypedTarget {
  readonly kind: PauseKind
  readonly network: string
  readonly scheme: string
  readonly payTo: string
  readonly accountId: string
}

export const readTarget = ({ kind, network, scheme, payTo, accountId }: TypedTarget): PauseTarget => {
  switch (kind) {
    case 'network':
      return { kind, network }
    case 'scheme':
      return { kind, network, scheme: scheme.trim() }
    case 'recipient':
      return { kind, network, payTo: payTo.trim() }
    case 'account':
      return { kind, accountId: accountId.trim() }
  }
}

export const describeTarget = (target: PauseTarget): string => {
  switch (target.kind) {
    case 'network':
      return nameOf(target.network)
    case 'scheme':
      return `${target.scheme} on ${nameOf(target.network)}`
    case 'recipient':
      return `payments to ${target.payTo} on ${nameOf(target.network)}`
    case 'account':
      return `the account ${target.accountId}`
  }
}
