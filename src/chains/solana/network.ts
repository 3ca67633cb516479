import { z } from 'zod'
import { withSignal } from '../../concurrency/deadline.js'
import type { BlockReference } from '../../ports/settlementJournal.js'
import type { BlockStatus, Network } from '../../schemes/network.js'
import { networkUnavailable } from '../common/networkUnavailable.js'
import { createSettlingNetwork } from '../common/settling/network.js'
import type { SettlingTerms } from '../common/settling/openFamily.js'
import { agreeOnBlock } from '../nodes/crossCheck.js'
import { type Endpoint, RpcError } from '../nodes/endpoint.js'
import { readAddress } from './encoding/keys.js'
import { type FindAssociatedAccount, readTokenAccount, tokenPrograms } from './encoding/tokenAccounts.js'
import { baseFee } from './exact/instructions.js'
import { coinDecimals } from './networks.js'
import { blockOptions, blockShape, type Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings } from './settings.js'

// A confirmed block follows after some slots of 0.4 s each.
const secondsToSettle = 2

interface NetworkDependencies {
  readonly settings: SolanaNetworkSettings
  readonly rpc: Rpc
  readonly findAssociatedAccount: FindAssociatedAccount
  readonly signers: readonly string[]
}

export const createSolanaNetwork = (
  { settings, rpc, findAssociatedAccount, signers }: NetworkDependencies,
  terms: SettlingTerms,
): Network =>
  createSettlingNetwork({
    ...terms,
    settings,
    signers,
    secondsToSettle,
    findCost: () => baseFee,
    readAddress,
    // Base58 has one spelling for each key.
    formatAddress: (address) => address,
    readBalance: (mint, owner) =>
      readBalance({ network: settings.network, rpc, findAssociatedAccount }, { mint, owner }),
    // Clients choose the priority fee, so it is not included.
    estimateFee: async () => ({
      amount: baseFee,
      symbol: 'SOL',
      decimals: coinDecimals,
      paidBy: 'facilitator',
    }),
    getBlockStatus: (block, signal) =>
      withSignal(
        agreeOnBlock(rpc.endpoints, (endpoint) => askEndpoint(endpoint, block)),
        signal,
      ),
  })

interface BalanceReader {
  readonly network: string
  readonly rpc: Pick<Rpc, 'getAccounts'>
  readonly findAssociatedAccount: FindAssociatedAccount
}

/**
 * Of the owner's associated account, from which payments are made: that of the token program which owns the mint. One
 * request asks for the accounts of both programs.
 */
export const readBalance = async (
  { network, rpc, findAssociatedAccount }: BalanceReader,
  { mint, owner }: { readonly mint: string; readonly owner: string },
): Promise<bigint> => {
  const addresses = tokenPrograms.map((program) => findAssociatedAccount({ owner, mint, program }))
  const [mintAccount, ...accounts] = await rpc.getAccounts([mint, ...addresses])
  const refuse = (problem: string) => networkUnavailable(network, new Error(problem))
  if (mintAccount === undefined || accounts.length !== addresses.length) {
    throw refuse('The node did not return an account for each address')
  }
  const account = accounts[tokenPrograms.indexOf(mintAccount?.owner ?? '')] ?? null
  // Lamports can be sent to the address before the token account exists.
  if (mintAccount === null || account === null || account.owner !== mintAccount.owner) return 0n
  const tokens = readTokenAccount(account)
  if (tokens === null || tokens.mint !== mint) {
    throw refuse('The node returned another account than the associated one')
  }
  // Associated accounts can be given away.
  return tokens.owner === owner ? tokens.amount : 0n
}

const askEndpoint = async (endpoint: Endpoint, { number, hash }: BlockReference): Promise<BlockStatus> => {
  const slot = Number(number)
  const [found, finalSlot] = await Promise.all([
    findBlockhash(endpoint, slot),
    endpoint.request('getSlot', [{ commitment: 'finalized' }], z.int()),
  ])
  if (found === 'skipped') return slot <= finalSlot ? 'orphaned' : 'unknown'
  if (found !== hash) return 'orphaned'
  return slot <= finalSlot ? 'final' : 'canonical'
}

const skipped = -32_007

/** Rejects for a block that the node does not have: only an error states that the slot was skipped. */
const findBlockhash = async (endpoint: Endpoint, slot: number): Promise<string> => {
  try {
    const block = await endpoint.request('getBlock', [slot, blockOptions], blockShape)
    if (block === null) throw new Error('The node does not have the block')
    return block.blockhash
  } catch (error) {
    if (error instanceof RpcError && error.code === skipped) return 'skipped'
    throw error
  }
}
