// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Pays, and burns about as much gas as anyone told it to beforehand.
contract GasBurnerToken is Token3009 {
    uint256 public gasToBurn;

    constructor(string memory name, string memory version, uint256 firstGasToBurn) VrsToken3009(name, version) {
        gasToBurn = firstGasToBurn;
    }

    function setGasToBurn(uint256 next) external {
        gasToBurn = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        uint256 start = gasleft();
        uint256 amount = gasToBurn;
        while (start - gasleft() < amount) {}
        super._move(from, to, value);
    }
}
