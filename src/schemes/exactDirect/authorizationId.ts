import type { Terms } from './judge.js'

/** It covers all transfers of one asset between two accounts in one transaction, in normal forms. */
export const formatAuthorizationId = (
  network: string,
  { transaction, asset, from, to }: Pick<Terms, 'asset' | 'from' | 'to'> & { readonly transaction: string },
): string => [network, transaction, asset, from, to].join('/')
