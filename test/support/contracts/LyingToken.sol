// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Succeeds without paying. The lie can be changed at any time, as behind an upgradeable proxy.
contract LyingToken is Token3009 {
    enum Lie {
        SaysNothing, // moves nothing and emits no Transfer
        SaysWrongValue, // moves half, and emits a Transfer of half
        SaysWrongRecipient, // pays someone else, and says so
        SaysTheTruthFalsely // emits the expected Transfer and moves nothing
    }

    Lie public lie;

    constructor(string memory name, string memory version, Lie first) VrsToken3009(name, version) {
        lie = first;
    }

    function setLie(Lie next) external {
        lie = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        if (lie == Lie.SaysWrongValue) super._move(from, to, value / 2);
        else if (lie == Lie.SaysWrongRecipient) super._move(from, address(0xBAD), value);
        else if (lie == Lie.SaysTheTruthFalsely) emit Transfer(from, to, value);
    }
}
