import { type Ask, askOrNull } from '../../common/direct/node.js'
import type { RpcError } from '../../nodes/endpoint.js'
import type { AptosAddress } from '../encoding/address.js'
import { balanceShape, gasPriceShape, metadataShape, metadataType } from './wireShapes.js'

const notFound = 404

/** Also an unknown path has status 404. */
const isMissingAccount = ({ code, message }: RpcError): boolean =>
  code === notFound && /"(?:account|resource)_not_found"/.test(message)

/** Reads the account's primary store, with what a paired coin holds; 0 without either. */
export const readTokenBalance = async (
  ask: Ask,
  { asset, owner }: { readonly asset: AptosAddress; readonly owner: AptosAddress },
): Promise<bigint> =>
  (await askOrNull(ask, {
    method: `/accounts/${owner}/balance/${asset}`,
    params: null,
    schema: balanceShape,
    isVerdict: isMissingAccount,
  })) ?? 0n

/** Whether the address is the metadata object of a fungible asset. */
export const hasFungibleAsset = async (ask: Ask, asset: AptosAddress): Promise<boolean> => {
  const metadata = await askOrNull(ask, {
    method: `/accounts/${asset}/resource/${metadataType}`,
    params: null,
    schema: metadataShape,
    isVerdict: isMissingAccount,
  })
  return metadata !== null
}

/** In octas per unit of gas. */
export const readGasPrice = (ask: Ask): Promise<bigint> => ask('/estimate_gas_price', null, gasPriceShape)
