import { networkUnavailable } from '../../common/networkUnavailable.js'
import { formatAddress, type TronAddress, toWord } from '../encoding/address.js'
import type { Rpc } from './rpc.js'

// balanceOf(address)
const balanceOf = '70a08231'

const wordForm = /^[0-9a-f]{64}$/

/** In the newest block. An answer other than one number is none: the address has no such token. */
export const readBalance = async (
  { rpc, network }: { readonly rpc: Pick<Rpc, 'simulate'>; readonly network: string },
  { contract, owner }: { readonly contract: TronAddress; readonly owner: TronAddress },
): Promise<bigint> => {
  const answer = await rpc.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` })
  if (answer.succeeds && wordForm.test(answer.returned)) return BigInt(`0x${answer.returned}`)
  throw networkUnavailable(network, new Error(`${formatAddress(contract)} did not answer balanceOf`))
}
