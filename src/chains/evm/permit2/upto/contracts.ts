import { parseAbi } from 'viem'

/** x402's proxy for `upto`: the only spender that payers permit. Only the witness's facilitator may call it. */
export const uptoProxyAddress = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

/** `settleWithPermit` has five words of an EIP-2612 permit before the arguments of `settle`. */
export const uptoProxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
])
