// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {PlainToken} from "./Token3009.sol";

/// @notice An ERC-20 without EIP-3009.
contract No3009Token is PlainToken {
    constructor(string memory name) PlainToken(name) {}
}
