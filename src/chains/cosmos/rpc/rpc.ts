import { QueryAccountInfoRequest } from 'cosmjs-types/cosmos/auth/v1beta1/query'
import { QueryBalanceRequest, QuerySupplyOfRequest } from 'cosmjs-types/cosmos/bank/v1beta1/query'
import { type Ask, askOrNull } from '../../common/direct/node.js'
import type { Endpoint, RpcError } from '../../nodes/endpoint.js'
import type { Proof } from '../../nodes/endpointHealth.js'
import {
  accountNumberShapeOf,
  balanceShapeOf,
  commitShapeOf,
  type FoundTransaction,
  minimumGasPriceShape,
  statusShape,
  supplyShapeOf,
  transactionShapeOf,
} from './wireShapes.js'

/** How an endpoint proves which chain it serves. Throws if it is catching up, or does not index transactions. */
export const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const { node_info, sync_info } = await endpoint.request('status', {}, statusShape)
  if (sync_info.catching_up) throw new Error('The node is catching up')
  if (node_info.other?.tx_index === 'off') throw new Error('The node does not index transactions')
  return {
    chain: node_info.network,
    head: {
      number: BigInt(sync_info.latest_block_height),
      timestamp: Math.floor(Date.parse(sync_info.latest_block_time) / 1_000),
    },
  }
}

/**
 * Of CometBFT's errors only this one is an answer. Without an index of transactions a node fails otherwise, and knows
 * nothing.
 */
const isMissing = ({ message, data }: RpcError, transaction: string): boolean =>
  `${message} ${typeof data === 'string' ? data : ''}`.toUpperCase().includes(`TX (${transaction}) NOT FOUND`)

/** With its inclusion proof. Null: no block of the node holds it. */
export const findTransaction = (ask: Ask, transaction: string): Promise<FoundTransaction | null> =>
  askOrNull(ask, {
    method: 'tx',
    params: { hash: Buffer.from(transaction, 'hex').toString('base64'), prove: true },
    schema: transactionShapeOf(transaction),
    isVerdict: (error) => isMissing(error, transaction),
  })

/** The header of the block that holds the transaction. `commit` has no transactions, unlike `block`. */
export const readHeader = (
  ask: Ask,
  expected: { readonly chainId: string; readonly height: number; readonly dataHash: string },
) => ask('commit', { height: `${expected.height}` }, commitShapeOf(expected))

/** By the bank module, in the newest block; 0 for an account that the chain does not know. */
export const readBankBalance = (
  ask: Ask,
  { denom, address }: { readonly denom: string; readonly address: string },
): Promise<bigint> => {
  const request = QueryBalanceRequest.encode(QueryBalanceRequest.fromPartial({ address, denom })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask('abci_query', { path: '/cosmos.bank.v1beta1.Query/Balance', data }, balanceShapeOf(denom))
}

/** Supply of the denomination in the newest block; 0 for one that the chain does not know. */
export const readSupply = (ask: Ask, denom: string): Promise<bigint> => {
  const request = QuerySupplyOfRequest.encode(QuerySupplyOfRequest.fromPartial({ denom })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask('abci_query', { path: '/cosmos.bank.v1beta1.Query/SupplyOf', data }, supplyShapeOf(denom))
}

/** Part of what the account signs; never changes. */
export const readAccountNumber = (ask: Ask, address: string): Promise<bigint> => {
  const request = QueryAccountInfoRequest.encode(QueryAccountInfoRequest.fromPartial({ address })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask(
    'abci_query',
    { path: '/cosmos.auth.v1beta1.Query/AccountInfo', data },
    accountNumberShapeOf(address),
  )
}

/** As the node writes them. */
export const readMinimumGasPrices = (ask: Ask): Promise<string> =>
  ask('abci_query', { path: '/cosmos.base.node.v1beta1.Service/Config', data: '' }, minimumGasPriceShape)
