/*
 * The frame error rates of ns-3 3.37 in white noise, to lay the curves of this
 * repository beside. One line for each model, mode, length and SNR:
 *
 *   model, mode, octets, SNR in dB, frame error rate
 *
 * Models are the table of link simulations (the default for 802.11n and later),
 * its LDPC table, and the closed forms after NIST and Yans; DSSS and CCK have
 * closed forms of their own. Modes are named by modulation and coding: those of
 * HT and later by MCS of one stream, BPSK 3/4 as ofdm1, 802.11b as dsss0-3.
 */

#include "ns3/core-module.h"
#include "ns3/he-phy.h"
#include "ns3/dsss-phy.h"
#include "ns3/ofdm-phy.h"
#include "ns3/nist-error-rate-model.h"
#include "ns3/table-based-error-rate-model.h"
#include "ns3/wifi-tx-vector.h"
#include "ns3/yans-error-rate-model.h"

#include <cmath>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

void
Print(const char* model, Ptr<ErrorRateModel> errors, const std::string& name, WifiMode mode, bool ldpc)
{
    WifiTxVector vector;
    vector.SetMode(mode);
    vector.SetChannelWidth(20);
    vector.SetNss(1);
    vector.SetGuardInterval(800);
    vector.SetPreambleType(WIFI_PREAMBLE_HE_SU);
    vector.SetLdpc(ldpc);
    for (uint64_t octets : {32, 1458})
    {
        for (int step = -1000; step < 4500; step++)
        {
            const double db = step / 100.0;
            const double success =
                errors->GetChunkSuccessRate(mode, vector, std::pow(10.0, db / 10.0), octets * 8);
            std::printf("%s,%s,%lu,%g,%e\n", model, name.c_str(), octets, db, 1.0 - success);
        }
    }
}

} // namespace

int
main()
{
    auto table = CreateObject<TableBasedErrorRateModel>();
    auto nist = CreateObject<NistErrorRateModel>();
    auto yans = CreateObject<YansErrorRateModel>();
    const WifiMode dsss[] = {DsssPhy::GetDsssRate1Mbps(),
                             DsssPhy::GetDsssRate2Mbps(),
                             DsssPhy::GetDsssRate5_5Mbps(),
                             DsssPhy::GetDsssRate11Mbps()};
    for (int index = 0; index < 4; index++)
    {
        Print("dsss", nist, "dsss" + std::to_string(index), dsss[index], false);
    }
    Print("nist", nist, "ofdm1", OfdmPhy::GetOfdmRate9Mbps(), false);
    Print("yans", yans, "ofdm1", OfdmPhy::GetOfdmRate9Mbps(), false);
    for (int mcs = 0; mcs < 12; mcs++)
    {
        const std::string name = std::to_string(mcs);
        const WifiMode mode = HePhy::GetHeMcs(mcs);
        if (mcs < 10)
        {
            Print("table", table, "mcs" + name, mode, false);
        }
        Print("table", table, "ldpc" + name, mode, true);
        Print("nist", nist, "mcs" + name, mode, false);
        Print("yans", yans, "mcs" + name, mode, false);
    }
    return 0;
}
