// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Settles many EIP-3009 payments in one transaction
/// @notice Calls nothing but the two forms of `transferWithAuthorization`. No owner, no storage, no approvals; accepts no
/// native coin. Anyone may call it, as anyone may submit a signed authorization. Tokens sent to its address are lost.
///
/// A batch is the number of payments (1 byte, at least 1), then one record for each. A record states only what differs
/// from the one before it; the first states everything:
///
///   flags       1   bits: 1 token, 2 recipient, 4 validity, 8 value follow; 16 the signature has the form of bytes
///   [token]    20
///   [to]       20
///   [validity] 64   validAfter, validBefore
///   [value]    32
///   from       20
///   nonce      32
///   signature       64: r, yParityAndS (EIP-2098); with flag 16: length (2), bytes
///
/// A payment that fails does not affect the others. Success of a call is no proof of payment: read the token's events.
contract BatchSettler {
    error MalformedBatch();

    /// @return executed bit i is set when the call of payment i did not revert
    function settle(bytes calldata batch) external returns (uint256 executed) {
        assembly ("memory-safe") {
            function refuse() {
                mstore(0, 0xc1f97e3500000000000000000000000000000000000000000000000000000000) // MalformedBatch()
                revert(0, 4)
            }

            let at := batch.offset
            let end := add(at, batch.length)
            let count := byte(0, calldataload(at))
            if or(iszero(batch.length), iszero(count)) { refuse() }
            at := add(at, 1)

            // The token's calldata, after 32 bytes whose last four are the selector. A record overwrites what it states.
            let form := mload(0x40)
            let token := 0
            let required := 15
            for { let index := 0 } lt(index, count) { index := add(index, 1) } {
                let flags := byte(0, calldataload(at))
                if or(gt(flags, 31), iszero(eq(and(flags, required), required))) { refuse() }
                required := 0
                at := add(at, 1)
                if and(flags, 1) {
                    token := shr(96, calldataload(at))
                    at := add(at, 20)
                }
                if and(flags, 2) {
                    mstore(add(form, 0x40), shr(96, calldataload(at)))
                    at := add(at, 20)
                }
                if and(flags, 4) {
                    calldatacopy(add(form, 0x80), at, 0x40)
                    at := add(at, 0x40)
                }
                if and(flags, 8) {
                    calldatacopy(add(form, 0x60), at, 0x20)
                    at := add(at, 0x20)
                }
                mstore(add(form, 0x20), shr(96, calldataload(at)))
                calldatacopy(add(form, 0xc0), add(at, 20), 0x20)
                at := add(at, 52)

                let size := 0x124
                switch and(flags, 16)
                case 0 {
                    mstore(form, 0xe3ee160e) // (address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
                    let yParityAndS := calldataload(add(at, 0x20))
                    mstore(add(form, 0xe0), add(27, shr(255, yParityAndS)))
                    calldatacopy(add(form, 0x100), at, 0x20)
                    mstore(add(form, 0x120), shr(1, shl(1, yParityAndS)))
                    at := add(at, 0x40)
                }
                default {
                    mstore(form, 0xcf092995) // (address,address,uint256,uint256,uint256,bytes32,bytes)
                    let length := shr(240, calldataload(at))
                    at := add(at, 2)
                    mstore(add(form, 0xe0), 0xe0)
                    mstore(add(form, 0x100), length)
                    calldatacopy(add(form, 0x120), at, length)
                    mstore(add(add(form, 0x120), length), 0)
                    size := add(0x104, and(add(length, 31), not(31)))
                    at := add(at, length)
                }

                // An equal share of the gas that remains: what one call burns was its own. The reserve ends the loop.
                let share := gas()
                switch gt(share, 5000)
                case 0 { share := 0 }
                default { share := div(sub(share, 5000), sub(count, index)) }
                // No return data is copied, whatever its size.
                executed := or(executed, shl(index, call(share, token, 0, add(form, 0x1c), size, 0, 0)))
            }
            // Undoes every call of a batch that is shorter or longer than its records.
            if iszero(eq(at, end)) { refuse() }
        }
    }
}
