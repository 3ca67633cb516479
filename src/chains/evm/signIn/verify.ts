import { type Hex, hashMessage, hashTypedData } from 'viem'
import type { SignatureScheme, SignInTypedData } from '../../../protocol/siwx.js'
import type { SignInModule } from '../../chain.js'
import { readAddress } from '../abi/address.js'
import { keySignatureLengths, readSignature, readSignatureText } from '../signatures/signature.js'
import { isSignedByContract } from './walletCheck.js'

const schemes: readonly SignatureScheme[] = ['eip191', 'eip712', 'eip1271', 'eip6492']

/** Tries every scheme that the client may use, whichever it states: wallets often do not know which they use. */
export const verifySignature: SignInModule['verifySignature'] = async (statement, reader) => {
  const { scheme, messages, typedData } = statement
  if (scheme !== null && !schemes.includes(scheme)) return { state: 'wrong_scheme' }
  const address = readStatedAddress(statement.address)
  if (address === null) return { state: 'invalid_address' }
  const signature = readSignatureText(statement.signature)
  if (signature === null) return { state: 'invalid' }

  const candidates: readonly Candidate[] = [
    ...messages.map((message) => ({ digest: hashMessage(message), scheme: 'eip191' }) as const),
    ...(typedData === null
      ? []
      : [{ digest: hashSignInData(typedData, address), scheme: 'eip712' } as const]),
  ]
  const found = await findKeySignature(signature, candidates, address)
  if (found === 'malleable') return { state: 'invalid' }
  if (found !== null) return { state: 'valid', scheme: found.scheme, address }

  if (reader === null) {
    const isContractSignature =
      scheme === 'eip1271' || scheme === 'eip6492' || !keySignatureLengths.includes(signature.length)
    return { state: isContractSignature ? 'not_configured' : 'invalid' }
  }
  const digests = candidates.map(({ digest }) => digest)
  const { requester = unknownRequester } = statement
  const contractScheme = await isSignedByContract(reader, { address, signature, digests, requester })
  return contractScheme === null ? { state: 'invalid' } : { state: 'valid', scheme: contractScheme, address }
}

export const verifyMessage: SignInModule['verifyMessage'] = async (text, reader) => {
  const verdict = await verifySignature(
    {
      ...text,
      scheme: null,
      messages: [text.message],
      typedData: null,
      domain: '',
      nonce: '',
      at: new Date(0),
    },
    reader,
  )
  return verdict.state === 'valid'
}

const unknownRequester = { name: 'unknown', site: null } as const

interface Candidate {
  readonly digest: Hex
  readonly scheme: 'eip191' | 'eip712'
}

/** The digest that the address's own key signed; `malleable`: with a high s. */
const findKeySignature = async (
  signature: Hex,
  candidates: readonly Candidate[],
  address: Hex,
): Promise<Candidate | 'malleable' | null> => {
  if (!keySignatureLengths.includes(signature.length)) return null
  for (const candidate of candidates) {
    const read = await readSignature(signature, candidate.digest, address)
    if (read === null) return 'malleable'
    if (read.kind === 'ecdsa') return candidate
  }
  return null
}

/** Reads an address into EIP-55 form; one letter case throughout is no checksum, a wrong mixture is a wrong address. */
const readStatedAddress = (text: string): Hex | null => {
  const address = readAddress(text)
  if (address === null) return null
  const isUniform = text === text.toLowerCase() || text.slice(2) === text.slice(2).toUpperCase()
  return isUniform || text === address ? address : null
}

// `createSIWxTypedData` of @t402/extensions writes it so.
const types = {
  SIWx: [
    { name: 'domain', type: 'string' },
    { name: 'address', type: 'address' },
    { name: 'statement', type: 'string' },
    { name: 'uri', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'string' },
    { name: 'nonce', type: 'string' },
    { name: 'issuedAt', type: 'string' },
    { name: 'expirationTime', type: 'string' },
    { name: 'resources', type: 'string[]' },
  ],
} as const

export const hashSignInData = ({ name, version, chainId, message }: SignInTypedData, address: Hex): Hex =>
  hashTypedData({
    domain: { name, version, chainId },
    types,
    primaryType: 'SIWx',
    message: { ...message, address },
  })
