import { readText } from './json.js'
import type { Requirements } from './payment.js'

/** EIP-3009, in decimal text as on the wire. */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

/** What `eth_signTypedData_v4` takes. */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: 'TransferWithAuthorization'
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: string
  }
  readonly message: Authorization
}

const types = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

/** A problem with a sentence for the page. */
export class WalkError extends Error {}

export const readChainId = (network: string): number => {
  const [, digits] = /^eip155:([1-9]\d{0,14})$/.exec(network) ?? []
  if (digits === undefined)
    throw new WalkError(`A wallet of the browser pays on EVM only, and not on ${network}`)
  return Number(digits)
}

// Clocks differ.
const toleratedSeconds = 600
const longestSeconds = 3_600

/** The transfer that pays these requirements once, from now until their timeout. */
export const writeTypedData = (requirements: Requirements, from: string, now = Date.now()): TypedData => {
  const { network, asset, payTo, amount, maxTimeoutSeconds, extra } = requirements
  const [name, version] = [readText(extra, 'name'), readText(extra, 'version')]
  if (requirements.scheme !== 'exact' || (extra.assetTransferMethod ?? 'eip3009') !== 'eip3009') {
    throw new WalkError('The playground signs transfers by EIP-3009, and this token is paid in another way')
  }
  if (name === null || version === null) {
    throw new WalkError('The requirements do not name the domain of the token, so that nothing can be signed')
  }
  const nowSeconds = Math.floor(now / 1_000)
  return {
    types,
    primaryType: 'TransferWithAuthorization',
    domain: { name, version, chainId: readChainId(network), verifyingContract: asset },
    message: {
      from,
      to: payTo,
      value: amount,
      validAfter: `${nowSeconds - toleratedSeconds}`,
      validBefore: `${nowSeconds + Math.min(Math.floor(maxTimeoutSeconds), longestSeconds)}`,
      nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
    },
  }
}

export const toHex = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
