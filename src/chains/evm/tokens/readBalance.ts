import type { Hex } from 'viem'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { addressWord } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'

// balanceOf(address)
const balanceOf = '0x70a08231'

const wordForm = /^0x[0-9a-fA-F]{64}$/

/** Calldata of `balanceOf`. */
export const encodeBalanceCall = (owner: Hex): Hex => `${balanceOf}${addressWord(owner)}`

/** In the latest block. An answer other than one number is none: the address has no such token. */
export const readBalance = async (
  { rpc, network }: { readonly rpc: Pick<Rpc, 'call'>; readonly network: string },
  { asset, owner }: { readonly asset: Hex; readonly owner: Hex },
): Promise<bigint> => {
  const answer = await rpc.call({ to: asset, data: encodeBalanceCall(owner) })
  if (answer.succeeds && wordForm.test(answer.value)) return BigInt(answer.value)
  throw networkUnavailable(network, new Error(`${asset} did not answer balanceOf`))
}
