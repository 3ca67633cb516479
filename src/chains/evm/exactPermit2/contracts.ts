import { parseAbi } from 'viem'

/** Uniswap's Permit2; same address on nearly every EVM chain. */
export const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** x402's proxy for `exact`: the only spender that payers permit. Any account may call it. */
export const exactProxyAddress = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'

/** Functions, events and errors of Permit2's signature transfers. A transfer emits no event. */
export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)',
  'event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)',
  'error SignatureExpired(uint256 signatureDeadline)',
  'error InvalidNonce()',
  'error InvalidSignature()',
  'error InvalidSignatureLength()',
  'error InvalidSigner()',
  'error InvalidContractSignature()',
])

/** `settleWithPermit` has five words of an EIP-2612 permit before the arguments of `settle`. */
export const exactProxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'event Settled()',
  'event SettledWithPermit()',
  'error PaymentTooEarly()',
])
