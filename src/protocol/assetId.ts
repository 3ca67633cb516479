import { canonicalNetwork, namespaceOf } from './network.js'

/*
 * Assets arrive bare, as the chain names them, or as CAIP-19 identifiers (`aptos:1/fa:0x…`). Both are one asset: what is
 * compared and stored is the bare form.
 */

/** Asset namespaces of CAIP-19 by namespace of the network. */
const assetNamespaces: Readonly<Record<string, readonly string[]>> = {
  eip155: ['erc20'],
  solana: ['token'],
  ton: ['jetton'],
  tron: ['trc20'],
  near: ['nep141'],
  aptos: ['fa'],
  tezos: ['fa2'],
  polkadot: ['asset'],
  stacks: ['sip010'],
  cosmos: ['denom'],
}

const maxLength = 256
// Aptos's namespace `fa` is shorter than CAIP-19 allows.
const caip19 = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,64})\/([-a-z0-9]{2,8}):(.+)$/

/** The bare form of an asset of the network (CAIP-2); what is not CAIP-19 of this network is returned unchanged. */
export const canonicalAsset = (network: string, asset: string): string => {
  if (asset.length > maxLength) return asset
  const namespace = namespaceOf(network)
  const [, chain, assetNamespace = '', reference] = caip19.exec(asset) ?? []
  if (chain === undefined || reference === undefined) return unifyForms(namespace, asset)
  const isOfNetwork =
    canonicalNetwork(chain) === network && assetNamespaces[namespace]?.includes(assetNamespace) === true
  return isOfNetwork ? unifyForms(namespace, reference) : asset
}

/** CAIP-19 of a bare asset. */
export const toCaip19 = (network: string, asset: string): string => {
  const namespace = namespaceOf(network)
  const [assetNamespace] = assetNamespaces[namespace] ?? []
  if (assetNamespace === undefined) throw new Error(`CAIP-19 has no asset namespace for ${network}`)
  const reference = namespace === 'tezos' ? asset.replace(':', '/') : asset
  return `${network}/${assetNamespace}:${reference}`
}

/** Some bare assets have several spellings. */
const unifyForms = (namespace: string, asset: string): string => {
  switch (namespace) {
    case 'aptos':
      return padHexAddress(asset)
    case 'tezos':
      return asset.includes(':') ? asset : `${asset.replace('/', ':')}${asset.includes('/') ? '' : ':0'}`
    default:
      return asset
  }
}

/** Aptos addresses are written in any case, with or without leading zeros. */
const padHexAddress = (text: string): string => {
  const [, digits] = /^0x([0-9a-fA-F]{1,64})$/.exec(text) ?? []
  return digits === undefined ? text : `0x${digits.toLowerCase().padStart(64, '0')}`
}

/** One spelling for comparisons: hex addresses are case-insensitive, base58 and names are not. */
export const foldAddress = (address: string): string =>
  /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address
