// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Lets a transfer through or not, depending on who asks: what a simulation from another sender misses.
contract SenderDependentToken is Token3009 {
    enum Rule {
        OnlyKnownSender, // reverts unless msg.sender is the known sender
        NotKnownSender, // reverts when msg.sender is the known sender
        OnlySimulation // reverts when gas is paid for, that is in every mined transaction
    }

    Rule public rule;
    address public knownSender;

    constructor(string memory name, string memory version, Rule firstRule, address firstSender)
        VrsToken3009(name, version)
    {
        rule = firstRule;
        knownSender = firstSender;
    }

    function setRule(Rule nextRule, address nextSender) external {
        rule = nextRule;
        knownSender = nextSender;
    }

    function _move(address from, address to, uint256 value) internal override {
        if (rule == Rule.OnlyKnownSender) require(msg.sender == knownSender, "sender is not known");
        else if (rule == Rule.NotKnownSender) require(msg.sender != knownSender, "sender is refused");
        else require(tx.gasprice == 0, "this is no simulation");
        super._move(from, to, value);
    }
}
