// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Keeps one percent of every transfer, and says so in honest events.
contract FeeOnTransferToken is Token3009 {
    address public constant FEE_COLLECTOR = address(0xFEE);

    constructor(string memory name, string memory version) VrsToken3009(name, version) {}

    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = value / 100;
        super._move(from, FEE_COLLECTOR, fee);
        super._move(from, to, value - fee);
    }
}
