import { parseAbi } from 'viem'

/** Uniswap's Permit2; same address on nearly every EVM chain. */
export const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** Functions, events and errors of Permit2's signature transfers. A transfer emits no event. */
export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)',
  'event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)',
  'error SignatureExpired(uint256 signatureDeadline)',
  'error InvalidAmount(uint256 maxAmount)',
  'error InvalidNonce()',
  'error InvalidSignature()',
  'error InvalidSignatureLength()',
  'error InvalidSigner()',
  'error InvalidContractSignature()',
])

/** Events and errors that both of x402's proxies have. No event names a permit. */
export const proxyAbi = parseAbi([
  'event Settled()',
  'event SettledWithPermit()',
  'error PaymentTooEarly()',
  'error AmountExceedsPermitted()',
  'error UnauthorizedFacilitator()',
  'error Permit2612AmountMismatch()',
])
