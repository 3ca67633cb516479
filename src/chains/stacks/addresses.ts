import { AddressVersion, addressToString, createAddress } from '@stacks/transactions'
import { mainnetChainId } from './settings.js'

// c32check of 20 bytes: at most 41 characters; leading zero bytes make it shorter.
const addressForm = /^S[0-9A-HJKMNP-TV-Z]{27,40}$/
const contractNameForm = /^[a-zA-Z][a-zA-Z0-9_-]{0,127}$/

const mainnetVersions: readonly number[] = [AddressVersion.MainnetSingleSig, AddressVersion.MainnetMultiSig]
const testnetVersions: readonly number[] = [AddressVersion.TestnetSingleSig, AddressVersion.TestnetMultiSig]

/** Null unless the text is the one c32check form of an address, with the version of the network. */
export const readStandardPrincipal = (text: string, chainId: string): string | null => {
  if (!addressForm.test(text)) return null
  const versions = chainId === mainnetChainId ? mainnetVersions : testnetVersions
  try {
    const address = createAddress(text)
    return versions.includes(address.version) && addressToString(address) === text ? text : null
  } catch {
    // A wrong checksum.
    return null
  }
}

/** `<address>.<contract name>`; null if it is none. */
export const readContractPrincipal = (text: string, chainId: string): string | null => {
  const dot = text.indexOf('.')
  if (dot === -1 || !contractNameForm.test(text.slice(dot + 1))) return null
  return readStandardPrincipal(text.slice(0, dot), chainId) === null ? null : text
}

/** Contracts hold tokens too. */
export const readPrincipal = (text: string, chainId: string): string | null =>
  readStandardPrincipal(text, chainId) ?? readContractPrincipal(text, chainId)
