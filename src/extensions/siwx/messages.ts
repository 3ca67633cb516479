import type { SignInFields, SignInTypedData } from '../../protocol/siwx.js'

/** CAIP-122 as t402 writes it: for every chain, with the whole CAIP-2 identifier. */
export const writeT402Message = (fields: SignInFields): string =>
  [
    `${fields.domain} wants you to sign in with your ${fields.chainId} account:`,
    fields.address,
    '',
    ...listStatement(fields),
    ...listLines(fields, fields.chainId),
    ...listResources(fields.resources),
  ].join('\n')

/** EIP-4361, as x402 and every wallet write it for EVM accounts. */
const writeEthereumMessage = (fields: SignInFields, reference: string): string =>
  [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    // The blank line after the statement stays without one.
    ...(fields.statement === null ? [''] : [fields.statement, '']),
    ...listLines(fields, reference),
    // Unlike the others, with its heading although it is empty.
    ...(fields.resources?.length === 0 ? ['Resources:'] : listResources(fields.resources)),
  ].join('\n')

/** Sign-in for Solana, as x402 writes it. */
const writeSolanaMessage = (fields: SignInFields, reference: string): string =>
  [
    `${fields.domain} wants you to sign in with your Solana account:`,
    fields.address,
    '',
    ...listStatement(fields),
    ...listLines(fields, reference),
    ...listResources(fields.resources),
  ].join('\n')

/** Null: x402 has no text for the chain. */
export const writeX402Message = (fields: SignInFields): string | null => {
  const [namespace = '', reference = ''] = fields.chainId.split(':')
  switch (namespace) {
    case 'eip155':
      return writeEthereumMessage(fields, reference)
    case 'solana':
      return writeSolanaMessage(fields, reference)
    default:
      return null
  }
}

/** Every text that says these fields; a signature over any of them is one. */
export const listMessages = (fields: SignInFields): readonly string[] => {
  const x402Message = writeX402Message(fields)
  return x402Message === null ? [writeT402Message(fields)] : [x402Message, writeT402Message(fields)]
}

/** Null where the typed data would not hold every field: it has neither notBefore nor requestId. */
export const findTypedData = (fields: SignInFields): SignInTypedData | null => {
  const { domain, address, uri, version, chainId, nonce, issuedAt } = fields
  if (fields.notBefore !== null || fields.requestId !== null) return null
  if (!chainId.startsWith('eip155:')) return null
  return {
    name: domain,
    version,
    chainId: Number(chainId.slice('eip155:'.length)),
    message: {
      domain,
      address,
      statement: fields.statement ?? '',
      uri,
      version,
      chainId,
      nonce,
      issuedAt,
      expirationTime: fields.expirationTime ?? '',
      resources: fields.resources ?? [],
    },
  }
}

const listStatement = ({ statement }: SignInFields): readonly string[] =>
  statement === null ? [] : [statement, '']

const listLines = (fields: SignInFields, chain: string): readonly string[] => [
  `URI: ${fields.uri}`,
  `Version: ${fields.version}`,
  `Chain ID: ${chain}`,
  `Nonce: ${fields.nonce}`,
  `Issued At: ${fields.issuedAt}`,
  ...(fields.expirationTime === null ? [] : [`Expiration Time: ${fields.expirationTime}`]),
  ...(fields.notBefore === null ? [] : [`Not Before: ${fields.notBefore}`]),
  ...(fields.requestId === null ? [] : [`Request ID: ${fields.requestId}`]),
]

const listResources = (resources: readonly string[] | null): readonly string[] =>
  resources === null || resources.length === 0
    ? []
    : ['Resources:', ...resources.map((resource) => `- ${resource}`)]
