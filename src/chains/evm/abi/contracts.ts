import { parseAbi } from 'viem'

/** Token functions and events: both forms of EIP-3009, ERC-20, EIP-5267. */
export const tokenAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

/** Multicall3: owns nothing and has no privileges, which makes it the caller of wallet factories. */
export const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

/** Same address on nearly every EVM chain (multicall3.com). */
export const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * The deterministic deployment proxy, at one address on nearly every EVM chain: calldata is a salt of 32 bytes and init
 * code, which it deploys by CREATE2 (github.com/Arachnid/deterministic-deployment-proxy).
 */
export const deploymentProxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
