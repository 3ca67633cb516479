import type { SubmittableExtrinsic } from '@polkadot/api/types'
import { writeDirectBody } from '../directBody.js'
import type { AssetHub } from './assetHub.js'
import type { PolkadotKey } from './keys.js'
import { usdt } from './westend.js'

export type Call = SubmittableExtrinsic<'promise'>

/** Calls of the runtime, as the client library builds them. */
export const callsOf = ({ api }: AssetHub) => {
  const find = (section: string, method: string) => {
    const call = api.tx[section]?.[method]
    if (call === undefined) throw new Error(`The runtime has no call ${section}.${method}`)
    return call
  }
  return {
    transfer: (to: string, amount: bigint, asset = usdt): Call =>
      find('assets', 'transferKeepAlive')(asset, to, amount),
    find,
  }
}

/** Signs with the client library and submits; resolves before a block holds it. */
export const submit = async (
  hub: AssetHub,
  signer: PolkadotKey,
  call: Call,
  options: { readonly era?: number; readonly nonce?: number } = {},
): Promise<string> => {
  const signed = await call.signAsync(signer, { nonce: await hub.nonceOf(signer.address), ...options })
  await hub.submit(signed.toHex())
  return signed.hash.toHex()
}

/** In a final block. */
export const pay = async (hub: AssetHub, signer: PolkadotKey, call: Call): Promise<string> => {
  const hash = await submit(hub, signer, call)
  await hub.mine()
  return hash
}

export interface ProofOptions {
  readonly hub: Pick<AssetHub, 'genesisHash'>
  readonly extrinsicHash: string
  readonly from: string
  readonly payTo: string
  readonly amount?: bigint
  readonly asset?: string
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
  /** Fields of the payload beside or instead of the usual ones. */
  readonly payload?: Readonly<Record<string, unknown>>
}

const networkOf = ({ genesisHash }: Pick<AssetHub, 'genesisHash'>): string =>
  `polkadot:${genesisHash.slice(2, 34)}`

/** A body in the form that clients send: the asset as CAIP-19, the payload with the block as a hint. */
export const polkadotPayment = ({
  hub,
  extrinsicHash,
  from,
  payTo,
  amount = 10_000n,
  asset = String(usdt),
  maxTimeoutSeconds = 300,
  extra = {},
  payload = {},
}: ProofOptions) => {
  const network = networkOf(hub)
  const terms = {
    network,
    asset: `${network}/asset:${asset}`,
    amount,
    payTo,
    maxTimeoutSeconds,
    extra: {
      assetSymbol: 'USDT',
      assetDecimals: 6,
      assetId: Number(asset),
      networkName: 'westend',
      ...extra,
    },
  }
  return writeDirectBody(terms, { extrinsicHash, from, ...payload })
}
