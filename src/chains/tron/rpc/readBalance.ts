import { networkUnavailable } from '../../common/networkUnavailable.js'
import { formatAddress, readAddress, type TronAddress, toWord } from '../encoding/address.js'
import type { Rpc } from './rpc.js'

// balanceOf(address)
const balanceOf = '70a08231'

const wordForm = /^[0-9a-f]{64}$/

interface BalanceQuery {
  readonly contract: TronAddress
  readonly owner: TronAddress
}

/** In the newest block. An answer other than one number is none: the address has no such token. */
export const readBalance = async (
  { rpc, network }: { readonly rpc: Pick<Rpc, 'simulate'>; readonly network: string },
  query: BalanceQuery,
): Promise<bigint> => {
  const balance = await findBalance(rpc, query)
  if (balance !== null) return balance
  throw networkUnavailable(network, new Error(`${formatAddress(query.contract)} did not answer balanceOf`))
}

/** Whether the contract answers as a token does. */
export const hasToken = async (rpc: Pick<Rpc, 'simulate'>, contract: string): Promise<boolean> => {
  const address = readAddress(contract)
  return address !== null && (await findBalance(rpc, { contract: address, owner: address })) !== null
}

const findBalance = async (
  rpc: Pick<Rpc, 'simulate'>,
  { contract, owner }: BalanceQuery,
): Promise<bigint | null> => {
  const answer = await rpc.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` })
  return answer.succeeds && wordForm.test(answer.returned) ? BigInt(`0x${answer.returned}`) : null
}
